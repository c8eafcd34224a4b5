import CCodecs
import Codecs
import Edits
import PhotoFiles
import RenderProtocol

extension PhotoFile {
    /// Opens a TIFF whose picture libvips 8.14 does not read, or reads with another meaning; nil for all others.
    ///
    /// - Throws: `VipsError`, or `unsupportedFormat` if libtiff cannot read the directory.
    func tiffImage() throws -> Image? {
        guard format == .tiff, let picture = survey?.tiff, picture.needsOwnReader,
            let meaning = picture.colours, let samples = TIFFSamples(picture)
        else { return nil }
        let channels =
            Array(0..<meaning.count) + (picture.alpha.map { [$0.channel] } ?? [])
        guard let rows = TIFFRows(descriptor, picture, wanted: channels) else {
            throw Failure(
                .unsupportedFormat,
                "\(name) is a TIFF whose layout libtiff cannot read: \(picture.layoutText). Write it again with another "
                    + "compression, in strips of some rows.")
        }
        var window = window
        let colours = TIFFColours(picture, meaning, luma: picture.luma(&window))
        let (width, height) = (picture[.width] ?? 0, picture[.height] ?? 0)
        let light = TIFFLight(width: width, planes: channels.count)
        let isPlanar = picture.isPlanar
        let step = isPlanar ? 1 : picture.samples
        let image = try Image.suppliedRows(
            RegionPicture(
                width: width, height: height, bands: colours.bands,
                format: colours.isDeep ? .ushort : .uchar, interpretation: colours.interpretation)
        ) { row in
            rows.next { stored in
                for (index, channel) in channels.enumerated() {
                    samples.read(
                        stored[isPlanar ? index : 0], from: isPlanar ? 0 : channel, step: step,
                        into: light.planes[index])
                }
                colours.convert(light.planes, into: row)
            }
        }
        return try image.changing(resolution: resolution(of: picture)).changing(
            fields(of: picture, isConverted: colours.isConverted))
    }

    /// Returns pixels per millimetre; 1 if the file states none.
    private func resolution(of picture: TIFFPicture) -> (x: Double, y: Double) {
        var window = window
        // 2 is the inch, 3 the centimetre.
        let unit = [2: 25.4, 3: 10][picture[.resolutionUnit] ?? 2]
        guard let unit, let x = picture.fraction(.xResolution, &window),
            let y = picture.fraction(.yResolution, &window), x > 0, y > 0
        else { return (1, 1) }
        return (x / unit, y / unit)
    }

    var pageOptions: [(String, Int)] {
        guard format == .tiff, let picture = survey?.tiff, !picture.isFirst else { return [] }
        return [(picture.isBelow ? "subifd" : "page", picture.page)]
    }

    private func fields(
        of picture: TIFFPicture, isConverted: Bool
    ) -> [Image.MetadataChange] {
        func data(_ tag: TIFFPicture.Tag) -> [UInt8]? {
            var window = window
            return picture.range(of: tag).map { window.all($0) }
        }
        var fields: [Image.MetadataChange] = [
            .setInt(
                "orientation", picture[.orientation] ?? survey?.firstTIFF?[.orientation] ?? 1),
            .setInt("n-pages", max(1, survey?.pages ?? 1)),
        ]
        if !isConverted, let profile = data(.profile) {
            fields.append(.setData("icc-profile-data", profile))
        }
        if let xmp = data(.xmp) { fields.append(.setData("xmp-data", xmp)) }
        if let iptc = data(.iptc) { fields.append(.setData("iptc-data", iptc)) }
        return fields
    }

    /// Returns notes about a TIFF: channels that are not read, and the place of the picture.
    func tiffNotes() -> [String] {
        guard let picture = survey?.tiff else { return [] }
        var notes: [String] = []
        if picture.isBelow {
            notes.append(
                "the picture below the first page is read: that page is a smaller copy of it")
        } else if !picture.isFirst {
            notes.append(
                "page \(picture.page + 1) of \(survey?.pages ?? 1) is read: the first is a smaller copy"
            )
        }
        if picture.spareChannels > 0 {
            notes.append(
                picture.spareChannels == 1
                    ? "a channel that is neither colour nor alpha is left out"
                    : "\(picture.spareChannels) channels that are neither colour nor alpha are left out"
            )
        }
        return notes
    }
}

/// Rows of numbers, a plane for each channel.
///
/// `@unchecked Sendable` is safe because one thread at a time makes rows.
private final class TIFFLight: @unchecked Sendable {
    let planes: [UnsafeMutableBufferPointer<Float>]

    init(width: Int, planes: Int) {
        self.planes = (0..<planes).map { _ in .allocate(capacity: width) }
        for plane in self.planes { plane.initialize(repeating: 0) }
    }

    deinit { for plane in planes { plane.deallocate() } }
}

extension TIFFPicture {
    /// Whether libvips 8.14 cannot read the picture, or reads it wrongly: samples that are not integers of 8 or 16 bits, several
    /// channels beside the colours, L*a*b*, luma and chroma (which it takes for RGB), channels that are stored by themselves (it takes
    /// grey for its alpha, and keeps whole strips of all channels), and any picture but the first.
    var needsOwnReader: Bool {
        guard let colours, let bits, self[.width] != nil, self[.height] != nil else { return false }
        if isFloat || ![8, 16].contains(bits) && !(isSimpleGrey && [1, 2, 4].contains(bits)) {
            return true
        }
        if case .lab = colours { return true }
        return colours == .luma || spareChannels > 0 || isPlanar && samples > 1 || !isFirst
    }

    private var isSimpleGrey: Bool { colours?.count == 1 && samples == 1 }

    var layoutText: String {
        "\(samples) channels of \(bits ?? 0) bits, compression \(self[.compression] ?? 1)"
    }
}

/// The numbers of a TIFF's samples: integers of 1 to 32 bits as shares of the greatest one, and floating-point numbers of 16, 24, 32
/// and 64 bits.
enum TIFFSamples {
    case integers(bits: Int)
    case half, float24, float, double

    /// Creates the numbers of a picture; nil for unsupported ones.
    init?(_ picture: TIFFPicture) {
        switch (picture.isFloat, picture.bits) {
        case (true, 16): self = .half
        case (true, 24): self = .float24
        case (true, 32): self = .float
        case (true, 64): self = .double
        case (false, .some(let bits)) where (1...32).contains(bits): self = .integers(bits: bits)
        default: return nil
        }
    }

    /// Reads every `step`-th sample of a row, from `first` on. A number that is none (NaN) is 0.
    func read(
        _ row: UnsafeRawBufferPointer, from first: Int, step: Int,
        into result: UnsafeMutableBufferPointer<Float>
    ) {
        func fill(_ sample: (Int) -> Float) {
            for index in result.indices { result[index] = sample(first + index * step) }
        }
        func numbers<Number: BitwiseCopyable>(_: Number.Type) -> UnsafeBufferPointer<Number> {
            row.bindMemory(to: Number.self)
        }
        switch self {
        case .integers(8):
            let samples = numbers(UInt8.self)
            fill { Float(samples[$0]) / 255 }
        case .integers(16):
            let samples = numbers(UInt16.self)
            fill { Float(samples[$0]) / 65_535 }
        case .integers(32):
            let samples = numbers(UInt32.self)
            fill { Float(Double(samples[$0]) / Double(UInt32.max)) }
        case .integers(24):
            let most = Float(1 << 24 - 1)
            fill { Float(Self.triple(row, $0)) / most }
        case .integers(let bits):
            let most = Double(1 << bits - 1)
            fill { Float(Double(Self.packed(row, $0 * bits, bits)) / most) }
        case .half:
            let samples = numbers(UInt16.self)
            fill { Self.known(Self.half(samples[$0])) }
        case .float24: fill { Self.known(Self.float24(UInt32(Self.triple(row, $0)))) }
        case .float:
            let samples = numbers(Float.self)
            fill { Self.known(samples[$0]) }
        case .double:
            let samples = numbers(Double.self)
            fill { Self.known(Float(samples[$0])) }
        }
    }

    private static func known(_ number: Float) -> Float { number.isNaN ? 0 : number }

    /// Three bytes, which libtiff puts into the machine's order.
    private static func triple(_ row: UnsafeRawBufferPointer, _ index: Int) -> Int {
        Int(row[3 * index]) | Int(row[3 * index + 1]) << 8 | Int(row[3 * index + 2]) << 16
    }

    /// Bits that follow each other, the highest first, whatever the file's byte order (TIFF 6.0 §7, FillOrder 1).
    private static func packed(_ row: UnsafeRawBufferPointer, _ start: Int, _ count: Int) -> Int {
        var number = 0
        for index in start / 8...(start + count - 1) / 8 { number = number << 8 | Int(row[index]) }
        let after = 7 - (start + count - 1) % 8
        return number >> after & (1 << count - 1)
    }

    /// IEEE 754 binary16; `Float16` is missing on x86-64 without AVX512.
    private static func half(_ bits: UInt16) -> Float {
        small(bits: UInt32(bits), fractionBits: 10, exponentBits: 5)
    }

    /// Adobe's number of 24 bits: 7 of the exponent and 16 of the fraction (Photoshop TIFF Technical Note 3).
    private static func float24(_ bits: UInt32) -> Float {
        small(bits: bits, fractionBits: 16, exponentBits: 7)
    }

    private static func small(bits: UInt32, fractionBits: UInt32, exponentBits: UInt32) -> Float {
        let fraction = bits & (1 << fractionBits - 1)
        let exponent = bits >> fractionBits & (1 << exponentBits - 1)
        let isNegative = bits >> (fractionBits + exponentBits) & 1 == 1
        let bias = Int(1 << (exponentBits - 1)) - 1
        let share = Float(fraction) / Float(UInt32(1) << fractionBits)
        let amount: Float =
            if exponent == 1 << exponentBits - 1 {
                fraction == 0 ? .infinity : .nan
            } else if exponent == 0 {
                Float(sign: .plus, exponent: 1 - bias, significand: share)
            } else {
                Float(sign: .plus, exponent: Int(exponent) - bias, significand: 1 + share)
            }
        return isNegative ? -amount : amount
    }
}

/// Rows of a TIFF's picture as they are stored, decoded by libtiff from top to bottom.
///
/// A row of tiles is decoded together and kept. A picture in strips is decoded row by row; if each channel is stored by itself, each
/// needs a decoder of its own. Only the wanted channels of such a picture are read.
final class TIFFRows {
    /// The most bytes of a tile or of a row; tiles of most programs have at most 512 KB.
    private static let blockBytesMax = 256 << 20

    private let shape: minilab_tiff_shape
    /// One decoder, or one for each wanted channel of strips.
    private var decoders: [OpaquePointer] = []
    /// The wanted channels that are stored by themselves; channel 0 for all channels together.
    private let channels: [Int]
    private let tile: UnsafeMutableRawBufferPointer
    /// The decoded rows, one channel after the other.
    private let rows: UnsafeMutableRawBufferPointer
    private var y = 0

    /// The rows that are decoded together: those of a tile, or one.
    private let rowsAtOnce: Int
    private var channelBytes: Int { rowsAtOnce * Int(shape.line_bytes) }

    /// Opens the picture.
    ///
    /// - Parameter wanted: the channels that are read.
    /// - Returns: nil if libtiff cannot read the directory, or if a tile or row is too large.
    init?(_ descriptor: Int32, _ picture: TIFFPicture, wanted: [Int]) {
        var shape = minilab_tiff_shape()
        guard let first = minilab_tiff_open(descriptor, UInt64(picture.offset), &shape) else {
            return nil
        }
        self.shape = shape
        rowsAtOnce = max(1, min(Int(shape.tile_height), Int(shape.height)))
        let isPlanar = shape.is_planar != 0
        channels = isPlanar ? wanted : [0]
        decoders = [first]
        let isKnown =
            Int(shape.samples) == picture.samples && Int(shape.bits) == picture.bits
            && Int(shape.width) == picture[.width] && Int(shape.height) == picture[.height]
            && isPlanar == picture.isPlanar
        let samples = isPlanar ? 1 : picture.samples
        let lineBytes = (Int(shape.width) * samples * Int(shape.bits) + 7) / 8
        let isFit =
            shape.line_bytes == lineBytes && lineBytes <= Self.blockBytesMax
            && shape.tile_bytes <= Self.blockBytesMax
            && channels.count * rowsAtOnce * lineBytes <= Self.blockBytesMax
        let isTiled = shape.tile_height > 0
        while !isTiled, isKnown, isFit, decoders.count < channels.count {
            var same = minilab_tiff_shape()
            guard let next = minilab_tiff_open(descriptor, UInt64(picture.offset), &same) else {
                break
            }
            decoders.append(next)
        }
        guard isKnown, isFit, isTiled || decoders.count == channels.count else {
            tile = .allocate(byteCount: 0, alignment: 16)
            rows = .allocate(byteCount: 0, alignment: 16)
            return nil
        }
        tile = .allocate(byteCount: Int(shape.tile_bytes), alignment: 16)
        rows = .allocate(byteCount: channels.count * rowsAtOnce * lineBytes, alignment: 16)
    }

    deinit {
        for decoder in decoders { minilab_tiff_close(decoder) }
        tile.deallocate()
        rows.deallocate()
    }

    /// Decodes the next row.
    ///
    /// - Parameter receive: receives the row of each wanted channel that is stored by itself, or of all channels together.
    /// - Returns: an error, or nil.
    func next(_ receive: ([UnsafeRawBufferPointer]) -> Void) -> String? {
        let line = y % rowsAtOnce
        if line == 0, let problem = decode(from: y) { return problem }
        receive(
            channels.indices.map { index in
                let start = index * channelBytes + line * Int(shape.line_bytes)
                return UnsafeRawBufferPointer(rebasing: rows[start..<start + Int(shape.line_bytes)])
            })
        y += 1
        return nil
    }

    private func decode(from first: Int) -> String? {
        for (index, channel) in channels.enumerated() {
            let start = index * channelBytes
            let target = UnsafeMutableRawBufferPointer(rebasing: rows[start..<start + channelBytes])
            let isRead =
                shape.tile_height == 0
                ? minilab_tiff_read_line(
                    decoders[index], UInt32(first), UInt16(channel), target.baseAddress,
                    Int(shape.line_bytes)) == 0
                : readTiles(of: channel, from: first, into: target)
            guard isRead else {
                return "tiff: row \(first) of channel \(channel) cannot be read"
            }
        }
        return nil
    }

    private func readTiles(
        of channel: Int, from first: Int, into target: UnsafeMutableRawBufferPointer
    ) -> Bool {
        let (width, lineBytes) = (Int(shape.tile_width), Int(shape.line_bytes))
        let tileLineBytes = Int(shape.tile_line_bytes)
        for (number, left) in stride(from: 0, to: Int(shape.width), by: width).enumerated() {
            let status = minilab_tiff_read_tile(
                decoders[0], UInt32(left), UInt32(first), UInt16(channel), tile.baseAddress,
                tile.count)
            guard status == 0 else { return false }
            // Tiles are a multiple of 16 pixels wide, so each begins at a whole byte.
            let start = number * tileLineBytes
            let count = min(tileLineBytes, lineBytes - start)
            for y in 0..<min(rowsAtOnce, Int(shape.height) - first) where count > 0 {
                let source = tile[y * tileLineBytes..<y * tileLineBytes + count]
                UnsafeMutableRawBufferPointer(
                    rebasing: target[y * lineBytes + start..<y * lineBytes + start + count]
                ).copyMemory(from: UnsafeRawBufferPointer(rebasing: source))
            }
        }
        return true
    }
}
