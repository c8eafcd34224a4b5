import Edits
import Files
import Filters
import RenderProtocol

/// A mark as pixels: a picture, or letters in one colour with a stroke.
struct MarkRaster {
    /// The size of the mark before any turn, which places it.
    let flat: PixelSize
    /// The rectangle of the pixels, and its place from the top left corner of the turned mark.
    private let left: Int, top: Int
    private let size: PixelSize
    private let content: Content

    private enum Content {
        /// Red, green, blue and alpha in sRGB codes.
        case picture([UInt8])
        case letters(
            fill: [UInt8], Recipe.Background, stroke: (plane: [UInt8], color: Recipe.Background)?)
    }

    /// Scales a picture in linear light, premultiplied, and turns it.
    init(_ picture: ResourcePicture, scaledTo flat: PixelSize, turnedBy degrees: Double) {
        self.flat = flat
        (left, top) = (0, 0)
        size = flat.turned(by: degrees)
        let scaled = picture.size == flat ? picture.codes : picture.scaled(to: flat)
        content = .picture(
            degrees.truncatingRemainder(dividingBy: 360) == 0
                ? scaled
                : ResourcePicture(size: flat, codes: scaled).turned(by: degrees, into: size))
    }

    /// Reads the coverage of a text.
    init(
        _ text: Mark.Text, _ stroke: Mark.Stroke?, _ drawn: PlacedText, in file: OpenFile
    ) throws(Failure) {
        let coverage = drawn.coverage
        flat = coverage.box
        (left, top) = (coverage.left, coverage.top)
        size = coverage.size
        var planes: [[UInt8]] = []
        for index in 0..<coverage.planes {
            let plane = file.bytes(
                from: drawn.offset + index * size.pixels, count: size.pixels)
            guard plane.count == size.pixels else {
                throw Failure(
                    .ioFailure, "The coverage of a text ended after \(plane.count) bytes.")
            }
            planes.append(plane)
        }
        content = .letters(
            fill: planes.first ?? [], text.color,
            stroke: stroke.flatMap { stroke in
                planes.count > 1 ? (planes[1], stroke.color) : nil
            })
    }

    /// Pixels to draw, in sRGB codes, and their place from the top left corner of the turned mark.
    struct Drawing {
        let left: Int, top: Int
        let size: PixelSize
        let codes: [UInt8]

        var area: Fit.Window {
            Fit.Window(left: left, top: top, width: size.width, height: size.height)
        }
    }

    /// Returns the mark with its shadow below it; nil if there is nothing to draw.
    ///
    /// - Throws: `invalidValue` if the shadow needs more pixels than a picture of a mark may have.
    func codes(with shadow: Mark.Cast?, at path: String) throws(Failure) -> Drawing? {
        guard size.pixels > 0 else { return nil }
        guard let shadow, shadow.opacity > 0 else {
            return Drawing(left: left, top: top, size: size, codes: ownCodes)
        }
        let boxes = BoxBlur(radius: shadow.blur)
        // Around the mark and its shadow.
        let (before, after) = (
            (x: min(0, shadow.right - boxes.reach), y: min(0, shadow.down - boxes.reach)),
            (
                x: max(size.width, size.width + shadow.right + boxes.reach),
                y: max(size.height, size.height + shadow.down + boxes.reach)
            )
        )
        let whole = PixelSize(width: after.x - before.x, height: after.y - before.y)
        guard whole.pixels <= ResourcePicture.pixelsMax else {
            throw Failure(
                .invalidValue,
                "\(path).shadow covers \(whole) pixels; at most \(ResourcePicture.pixelsMax) pixels are drawn. Make its blur or offset "
                    + "smaller.")
        }
        var cast = [UInt8](repeating: 0, count: whole.pixels)
        let alpha = outerAlpha
        for y in 0..<size.height {
            let start =
                (y + shadow.down - before.y) * whole.width + shadow.right - before.x
            cast.replaceSubrange(
                start..<start + size.width, with: alpha[y * size.width..<(y + 1) * size.width])
        }
        boxes.run(on: &cast, whole)
        var codes = [UInt8](repeating: 0, count: 4 * whole.pixels)
        let color = Paint(shadow.color)
        let own = ownCodes
        for y in 0..<whole.height {
            for x in 0..<whole.width {
                let index = y * whole.width + x
                var pixel = Paint.Pixel()
                pixel.add(color, Float(cast[index]) / 255 * Float(shadow.opacity))
                let (column, row) = (x + before.x, y + before.y)
                if (0..<size.width).contains(column), (0..<size.height).contains(row) {
                    let at = 4 * (row * size.width + column)
                    pixel.add(
                        Paint(own[at], own[at + 1], own[at + 2]), Float(own[at + 3]) / 255)
                }
                pixel.write(to: &codes, at: 4 * index)
            }
        }
        return Drawing(
            left: left + before.x, top: top + before.y, size: whole, codes: codes)
    }

    /// The alpha of the whole mark, by which it casts a shadow.
    private var outerAlpha: [UInt8] {
        switch content {
        case .picture(let codes): stride(from: 3, to: codes.count, by: 4).map { codes[$0] }
        case .letters(let fill, _, let stroke): stroke?.plane ?? fill
        }
    }

    private var ownCodes: [UInt8] {
        switch content {
        case .picture(let codes): return codes
        case .letters(let fill, let color, let stroke):
            var codes = [UInt8](repeating: 0, count: 4 * fill.count)
            let letters = Paint(color)
            guard let stroke else {
                let (red, green, blue) = letters.codes
                for index in fill.indices where fill[index] > 0 {
                    codes[4 * index] = red
                    codes[4 * index + 1] = green
                    codes[4 * index + 2] = blue
                    codes[4 * index + 3] = fill[index]
                }
                return codes
            }
            let line = Paint(stroke.color)
            for index in stroke.plane.indices where stroke.plane[index] > 0 {
                var pixel = Paint.Pixel()
                pixel.add(line, Float(stroke.plane[index]) / 255)
                pixel.add(letters, Float(fill[index]) / 255)
                pixel.write(to: &codes, at: 4 * index)
            }
            return codes
        }
    }
}

/// A colour in linear light.
private struct Paint {
    let red, green, blue: Float

    init(_ color: Recipe.Background) {
        func light(_ encoded: Double) -> Float { Float(ToneCurve.sRGB.linear(encoded)) }
        (red, green, blue) = (light(color.red), light(color.green), light(color.blue))
    }

    init(_ red: UInt8, _ green: UInt8, _ blue: UInt8) {
        self.red = LightCodes.light(red)
        self.green = LightCodes.light(green)
        self.blue = LightCodes.light(blue)
    }

    var codes: (UInt8, UInt8, UInt8) {
        (LightCodes.code(red), LightCodes.code(green), LightCodes.code(blue))
    }

    /// A premultiplied pixel of several colours, one over the other.
    struct Pixel {
        private var red: Float = 0, green: Float = 0, blue: Float = 0, alpha: Float = 0

        mutating func add(_ paint: Paint, _ share: Float) {
            let rest = 1 - share
            red = red * rest + paint.red * share
            green = green * rest + paint.green * share
            blue = blue * rest + paint.blue * share
            alpha = alpha * rest + share
        }

        func write(to codes: inout [UInt8], at index: Int) {
            guard alpha > 0 else { return }
            codes[index] = LightCodes.code(red / alpha)
            codes[index + 1] = LightCodes.code(green / alpha)
            codes[index + 2] = LightCodes.code(blue / alpha)
            codes[index + 3] = UInt8(min(max(alpha, 0), 1) * 255 + 0.5)
        }
    }
}

/// A Gaussian blur as three means of neighbours, of a standard deviation of half the radius (CSS Filter Effects 1, `blur`: within 3 % of
/// a Gaussian).
struct BoxBlur {
    /// The pixels to each side of the three means.
    private let halves: (Int, Int, Int)
    /// How far it reaches.
    var reach: Int { halves.0 + halves.1 + halves.2 }

    init(radius: Double) {
        let deviation = radius / 2
        // The width of a box whose threefold has this deviation, made odd.
        let width = (12 * deviation * deviation / 3 + 1).squareRoot()
        let half = max(0, Int(((width - 1) / 2).rounded(.down)))
        let narrow = Double(2 * half + 1)
        // As many narrow ones as keep the deviation.
        let wide =
            (12 * deviation * deviation - 3 * narrow * narrow - 12 * narrow - 9) / (-4 * narrow - 4)
        let count = Int(wide.rounded())
        halves = (
            count > 0 ? half : half + 1, count > 1 ? half : half + 1, count > 2 ? half : half + 1
        )
    }

    /// Blurs a plane; beyond its edges it is 0.
    func run(on plane: inout [UInt8], _ size: PixelSize) {
        for half in [halves.0, halves.1, halves.2] where half > 0 {
            for row in 0..<size.height {
                Self.mean(&plane, from: row * size.width, step: 1, count: size.width, half)
            }
            for column in 0..<size.width {
                Self.mean(&plane, from: column, step: size.width, count: size.height, half)
            }
        }
    }

    private static func mean(
        _ plane: inout [UInt8], from start: Int, step: Int, count: Int, _ half: Int
    ) {
        let width = 2 * half + 1
        var sum = 0
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: count) { line in
            for index in 0..<count { line[index] = plane[start + index * step] }
            for index in 0..<min(half, count) { sum += Int(line[index]) }
            for index in 0..<count {
                if index + half < count { sum += Int(line[index + half]) }
                if index - half - 1 >= 0 { sum -= Int(line[index - half - 1]) }
                plane[start + index * step] = UInt8((sum + width / 2) / width)
            }
        }
    }
}
