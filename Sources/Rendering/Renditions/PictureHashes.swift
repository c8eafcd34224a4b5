import Edits
import FoundationEssentials
import Glibc

/// A picture of sRGB codes in memory, for hashes.
struct HashedPicture: Sendable, Equatable {
    let width: Int, height: Int
    /// 3, or 4 with alpha, which is not premultiplied.
    let bands: Int
    /// Row by row.
    let codes: [UInt8]

    /// Longest side of the picture that is hashed. ThumbHash allows 100 pixels.
    static let sideMax = 64

    init(width: Int, height: Int, bands: Int, codes: [UInt8]) {
        precondition(codes.count == width * height * bands && (3...4).contains(bands))
        (self.width, self.height, self.bands, self.codes) = (width, height, bands, codes)
    }

    /// Returns the size of the picture that is hashed for one of this size.
    static func size(of size: PixelSize) -> PixelSize {
        let longest = max(size.width, size.height)
        guard longest > sideMax else { return size }
        func side(_ length: Int) -> Int {
            max(1, (2 * length * sideMax + longest) / (2 * longest))
        }
        return PixelSize(width: side(size.width), height: side(size.height))
    }

    /// Returns the hashes that were asked for, by their names; nil for none.
    func hashes(_ asked: [RenditionHash]) -> [String: String]? {
        guard !asked.isEmpty else { return nil }
        let size = PixelSize(width: width, height: height)
        let small = Self.size(of: size) == size ? self : reduced(to: Self.size(of: size))
        return Dictionary(
            uniqueKeysWithValues: asked.map { hash in
                switch hash {
                case .thumb: (hash.rawValue, Data(small.thumbHash).base64EncodedString())
                case .blur: (hash.rawValue, small.blurHash)
                case .perceptual: (hash.rawValue, small.perceptualHash)
                }
            })
    }

    /// Returns one channel as fractions of 1.
    private func channel(_ band: Int) -> [Double] {
        stride(from: band, to: codes.count, by: bands).map { Double(codes[$0]) / 255 }
    }

    /// Returns a smaller picture, by Lanczos over codes.
    func reduced(to size: PixelSize) -> HashedPicture {
        let reducer = HashReducer(
            PixelSize(width: width, height: height), to: size, bands: bands, bits: 8)
        codes.withUnsafeBytes { bytes in
            let stride = width * bands
            for y in 0..<height {
                reducer.add(UnsafeRawBufferPointer(rebasing: bytes[y * stride..<(y + 1) * stride]))
            }
        }
        return reducer.picture
    }
}

/// Reduces rows of codes to a picture for hashes, by Lanczos over codes. It keeps the small picture alone.
final class HashReducer {
    private let size: PixelSize
    private let bands: Int
    private let isDeep: Bool
    private let across: [LanczosWeights]
    private let down: [LanczosWeights]
    private var sums: [Float]
    private var row: [Float]
    private var y = 0

    /// - Parameter bits: of a code: 8 or 16.
    init(_ source: PixelSize, to size: PixelSize, bands: Int, bits: Int) {
        (self.size, self.bands, isDeep) = (size, bands, bits > 8)
        across = LanczosWeights.all(from: source.width, to: size.width)
        down = LanczosWeights.all(from: source.height, to: size.height)
        sums = [Float](repeating: 0, count: size.pixels * bands)
        row = [Float](repeating: 0, count: size.width * bands)
    }

    /// Adds the next row.
    func add(_ codes: UnsafeRawBufferPointer) {
        if isDeep {
            reduce(codes.bindMemory(to: UInt16.self), scale: 1 / 257)
        } else {
            reduce(codes.bindMemory(to: UInt8.self), scale: 1)
        }
        for (index, weights) in down.enumerated() {
            let place = y - weights.first
            guard weights.values.indices.contains(place) else { continue }
            let (weight, start) = (Float(weights.values[place]), index * row.count)
            for column in row.indices { sums[start + column] += weight * row[column] }
        }
        y += 1
    }

    private func reduce<Code: BinaryInteger>(
        _ codes: UnsafeBufferPointer<Code>, scale: Float
    ) {
        for (index, weights) in across.enumerated() {
            for band in 0..<bands {
                var sum: Float = 0
                for (place, weight) in weights.values.enumerated() {
                    sum += Float(weight) * Float(codes[(weights.first + place) * bands + band])
                }
                row[index * bands + band] = sum * scale
            }
        }
    }

    /// The picture, after all rows.
    var picture: HashedPicture {
        HashedPicture(
            width: size.width, height: size.height, bands: bands,
            codes: sums.map { UInt8(min(max($0, 0), 255).rounded()) })
    }
}

/// The source positions and weights of one position of a reduced picture: Lanczos of three lobes, as Pillow's.
private struct LanczosWeights {
    let first: Int
    let values: [Double]

    static func all(from source: Int, to count: Int) -> [LanczosWeights] {
        let scale = Double(source) / Double(count)
        let stretch = max(1, scale)
        let reach = 3 * stretch
        return (0..<count).map { position in
            let center = (Double(position) + 0.5) * scale
            let first = max(0, Int((center - reach + 0.5).rounded(.down)))
            let end = min(source, Int((center + reach + 0.5).rounded(.down)))
            let weights = (first..<max(end, first + 1)).map {
                lanczos((Double($0) + 0.5 - center) / stretch)
            }
            let sum = weights.reduce(0, +)
            return LanczosWeights(first: first, values: weights.map { $0 / sum })
        }
    }

    private static func lanczos(_ x: Double) -> Double {
        guard x != 0 else { return 1 }
        guard abs(x) < 3 else { return 0 }
        let angle = Double.pi * x
        return 3 * sin(angle) * sin(angle / 3) / (angle * angle)
    }
}

/// Values of one channel.
private struct Plane {
    let width: Int, height: Int
    let values: [Double]

    func resized(width: Int, height: Int) -> Plane {
        var rows: [Double] = []
        for y in 0..<self.height {
            for weights in LanczosWeights.all(from: self.width, to: width) {
                rows.append(
                    weights.values.enumerated().reduce(0) {
                        $0 + $1.element * values[y * self.width + weights.first + $1.offset]
                    })
            }
        }
        var result: [Double] = []
        for weights in LanczosWeights.all(from: self.height, to: height) {
            for x in 0..<width {
                result.append(
                    weights.values.enumerated().reduce(0) {
                        $0 + $1.element * rows[(weights.first + $1.offset) * width + x]
                    })
            }
        }
        return Plane(width: width, height: height, values: result)
    }

    /// The DCT-II coefficient of a column and a row of frequencies, without a factor.
    func coefficient(_ across: Int, _ down: Int) -> Double {
        let columns = Self.cosines(across, width)
        let rows = Self.cosines(down, height)
        var sum = 0.0
        for y in 0..<height {
            var row = 0.0
            for x in 0..<width { row += values[y * width + x] * columns[x] }
            sum += row * rows[y]
        }
        return sum
    }

    private static func cosines(_ frequency: Int, _ count: Int) -> [Double] {
        (0..<count).map {
            cos(Double.pi / Double(count) * Double(frequency) * (Double($0) + 0.5))
        }
    }
}

// MARK: ThumbHash

extension HashedPicture {
    /// At most 25 bytes (evanw/thumbhash, `rgbaToThumbHash`; MIT).
    var thumbHash: [UInt8] {
        let pixels = width * height
        let alpha = bands == 4 ? channel(3) : [Double](repeating: 1, count: pixels)
        let opacity = alpha.reduce(0, +)
        let colours = (0..<3).map(channel)
        let mean = colours.map { colour in
            opacity > 0 ? zip(colour, alpha).reduce(0) { $0 + $1.0 * $1.1 } / opacity : 0
        }
        // Over the mean colour.
        let flat = zip(colours, mean).map { colour, mean in
            zip(colour, alpha).map { mean * (1 - $1) + $0 * $1 }
        }
        let hasAlpha = opacity < Double(pixels)
        func plane(_ value: (Double, Double, Double) -> Double) -> Plane {
            Plane(
                width: width, height: height,
                values: (0..<pixels).map { value(flat[0][$0], flat[1][$0], flat[2][$0]) })
        }
        let most = hasAlpha ? 5.0 : 7.0
        let longest = Double(max(width, height))
        let across = max(1, Int((most * Double(width) / longest).rounded()))
        let down = max(1, Int((most * Double(height) / longest).rounded()))
        let light = Self.encoded(plane { ($0 + $1 + $2) / 3 }, max(3, across), max(3, down))
        let yellow = Self.encoded(plane { ($0 + $1) / 2 - $2 }, 3, 3)
        let red = Self.encoded(plane { r, g, _ in r - g }, 3, 3)
        let clear =
            hasAlpha
            ? Self.encoded(Plane(width: width, height: height, values: alpha), 5, 5) : nil
        func rounded(_ value: Double) -> Int { Int(value.rounded()) }
        let isLandscape = width > height
        let first =
            rounded(63 * light.mean) | rounded(31.5 + 31.5 * yellow.mean) << 6
            | rounded(31.5 + 31.5 * red.mean) << 12 | rounded(31 * light.scale) << 18
            | (hasAlpha ? 1 : 0) << 23
        let second =
            (isLandscape ? down : across) | rounded(63 * yellow.scale) << 3
            | rounded(63 * red.scale) << 9 | (isLandscape ? 1 : 0) << 15
        var hash = [first, first >> 8, first >> 16, second, second >> 8].map { UInt8($0 & 255) }
        if let clear {
            hash.append(UInt8(rounded(15 * clear.mean) | rounded(15 * clear.scale) << 4))
        }
        let nibbles = (light.rest + yellow.rest + red.rest + (clear?.rest ?? [])).map {
            UInt8(rounded(15 * $0))
        }
        for start in Swift.stride(from: 0, to: nibbles.count, by: 2) {
            hash.append(nibbles[start] | (start + 1 < nibbles.count ? nibbles[start + 1] << 4 : 0))
        }
        return hash
    }

    /// The mean, the other coefficients of a triangle of frequencies as fractions of the largest, and that.
    private static func encoded(
        _ plane: Plane, _ across: Int, _ down: Int
    ) -> (mean: Double, rest: [Double], scale: Double) {
        var (mean, rest) = (0.0, [Double]())
        let pixels = Double(plane.width * plane.height)
        for row in 0..<down {
            var column = 0
            while column * down < across * (down - row) {
                let value = plane.coefficient(column, row) / pixels
                if column > 0 || row > 0 { rest.append(value) } else { mean = value }
                column += 1
            }
        }
        let scale = rest.map(abs).max() ?? 0
        return (mean, scale > 0 ? rest.map { 0.5 + 0.5 / scale * $0 } : rest, scale)
    }
}

// MARK: BlurHash

extension HashedPicture {
    private static let (blurColumns, blurRows) = (4, 3)
    private static let digits = Array(
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~")

    private static func base83(_ value: Int, _ length: Int) -> String {
        var rest = value
        var text: [Character] = []
        for _ in 0..<length {
            text.append(digits[rest % 83])
            rest /= 83
        }
        return String(text.reversed())
    }

    /// 4×3 components (woltapp/blurhash, `encode.c`; MIT). Transparent parts are over white.
    var blurHash: String {
        let light = (0..<3).map { band in
            (0..<width * height).map { pixel -> Double in
                let code = Double(codes[pixel * bands + band]) / 255
                let alpha = bands == 4 ? Double(codes[pixel * bands + 3]) / 255 : 1
                return Self.linear(code * alpha + 1 - alpha)
            }
        }
        var factors: [[Double]] = []
        for row in 0..<Self.blurRows {
            for column in 0..<Self.blurColumns {
                let factor = (row == 0 && column == 0 ? 1.0 : 2.0) / Double(width * height)
                var sums = [0.0, 0.0, 0.0]
                for y in 0..<height {
                    let down = cos(Double.pi * Double(row * y) / Double(height))
                    for x in 0..<width {
                        let basis = cos(Double.pi * Double(column * x) / Double(width)) * down
                        for band in 0..<3 { sums[band] += basis * light[band][y * width + x] }
                    }
                }
                factors.append(sums.map { $0 * factor })
            }
        }
        let most = factors.dropFirst().joined().map(abs).max() ?? 0
        let quantised = max(0, min(82, Int((most * 166 - 0.5).rounded(.down))))
        let scale = Double(quantised + 1) / 166
        let mean = factors[0].reduce(0) { $0 << 8 | Self.code($1) }
        let rest = factors.dropFirst().map { factor in
            Self.base83(
                factor.reduce(0) { sum, value in
                    let root = (abs(value) / scale).squareRoot() * (value < 0 ? -1 : 1)
                    return sum * 19 + max(0, min(18, Int((root * 9 + 9.5).rounded(.down))))
                }, 2)
        }
        return Self.base83(Self.blurColumns - 1 + 9 * (Self.blurRows - 1), 1)
            + Self.base83(quantised, 1) + Self.base83(mean, 4) + rest.joined()
    }

    private static func linear(_ code: Double) -> Double {
        code <= 0.04045 ? code / 12.92 : pow((code + 0.055) / 1.055, 2.4)
    }

    private static func code(_ light: Double) -> Int {
        let light = min(max(light, 0), 1)
        let code = light <= 0.0031308 ? light * 12.92 : 1.055 * pow(light, 1 / 2.4) - 0.055
        return Int(code * 255 + 0.5)
    }
}

// MARK: Perceptual hash

extension HashedPicture {
    private static let (sampledSide, keptSide) = (32, 8)

    /// 64 bits as hexadecimal digits, by rows: which of the lowest frequencies of luma (BT.601) are above their median, as
    /// `imagehash.phash` has it.
    var perceptualHash: String {
        let (red, green, blue) = (channel(0), channel(1), channel(2))
        let luma = red.indices.map { 0.299 * red[$0] + 0.587 * green[$0] + 0.114 * blue[$0] }
        let plane = Plane(width: width, height: height, values: luma)
            .resized(width: Self.sampledSide, height: Self.sampledSide)
        let values = (0..<Self.keptSide).flatMap { row in
            (0..<Self.keptSide).map { plane.coefficient($0, row) }
        }
        let sorted = values.sorted()
        let median = (sorted[values.count / 2 - 1] + sorted[values.count / 2]) / 2
        let bits = values.reduce(UInt64(0)) { $0 << 1 | ($1 > median ? 1 : 0) }
        let digits = String(bits, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
