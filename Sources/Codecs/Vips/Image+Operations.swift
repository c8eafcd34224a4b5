public import Edits
import CVips

extension Image {
    /// The severity at which a loader fails.
    public enum FailOn: String, Sendable {
        /// A truncated file.
        case truncated
        /// Any error of the decoder.
        case error
        /// Any warning of the decoder.
        case warning
    }

    /// Opens a file with one named loader, without reading pixels.
    ///
    /// - Parameters:
    ///   - loader: libvips' nickname: `jpegload`, `pngload`, `heifload`, `webpload` …
    ///   - streaming: whether rows are requested only from top to bottom, once.
    ///   - options: the loader's own integers, such as the page.
    public static func open(
        _ file: Int32, loader: String, streaming: Bool, failOn: FailOn,
        options: [(String, Int)] = []
    ) throws(VipsError) -> Image {
        try Operation.run(
            loader + "_source",
            [
                ("source", .file(try .source(file))),
                ("access", .string(streaming ? "sequential" : "random")),
                ("fail_on", .string(failOn.rawValue)),
            ] + options.map { ($0.0, .int($0.1)) })
    }

    /// Clockwise quarter turns.
    public enum Turn: String, Sendable {
        case d90, d180, d270
    }

    /// Returns the image turned clockwise. Its rows need the source in another order.
    public func turned(_ turn: Turn) throws(VipsError) -> Image {
        try Operation.run("rot", [("in", .image(self)), ("angle", .string(turn.rawValue))])
    }

    /// Returns the image with left and right swapped; streams.
    public func mirrored() throws(VipsError) -> Image {
        try Operation.run("flip", [("in", .image(self)), ("direction", .string("horizontal"))])
    }

    /// Returns the image with top and bottom swapped.
    public func flipped() throws(VipsError) -> Image {
        try Operation.run("flip", [("in", .image(self)), ("direction", .string("vertical"))])
    }

    /// Returns a rectangle of the image; streams.
    public func cropped(to area: PixelArea) throws(VipsError) -> Image {
        try Operation.run(
            "extract_area",
            [
                ("input", .image(self)), ("left", .int(area.left)), ("top", .int(area.top)),
                ("width", .int(area.width)), ("height", .int(area.height)),
            ])
    }

    /// Returns some of the channels.
    public func bands(from first: Int, count: Int) throws(VipsError) -> Image {
        try Operation.run(
            "extract_band", [("in", .image(self)), ("band", .int(first)), ("n", .int(count))])
    }

    /// Returns these channels, followed by those of another image of the same size.
    public func joined(with other: Image) throws(VipsError) -> Image {
        try Operation.run("bandjoin", [("in", .images([self, other]))])
    }

    /// Returns all samples multiplied by a number, in another format.
    public func scaled(by factor: Double, to format: SampleFormat) throws(VipsError) -> Image {
        let product = try Operation.run(
            "linear",
            [("in", .image(self)), ("a", .doubles([factor])), ("b", .doubles([0]))])
        return try Operation.run(
            "cast", [("in", .image(product)), ("format", .string(format.rawValue))])
    }

    /// Converts from the embedded profile, or from `fallback` without one, to sRGB by Little CMS.
    ///
    /// - Parameter fallback: libvips' name of a built-in profile: `srgb`, `cmyk`, `p3`.
    public func convertedToSRGB(fallback: String, bits: Int) throws(VipsError) -> Image {
        try Operation.run(
            "icc_transform",
            [
                ("in", .image(self)), ("output_profile", .string("srgb")),
                ("input_profile", .string(fallback)), ("embedded", .bool(true)),
                ("intent", .string("relative")), ("depth", .int(bits)),
            ])
    }

    /// Converts by libvips' own colour conversions: `srgb`, `rgb16`, `scrgb` …
    public func converted(to interpretation: String) throws(VipsError) -> Image {
        try Operation.run(
            "colourspace", [("in", .image(self)), ("space", .string(interpretation))])
    }

    /// Shrinks or enlarges to a size, regardless of the aspect, by libvips' averaging and Lanczos kernels on the stored numbers.
    /// The picture is not turned.
    public func resized(width: Int, height: Int) throws(VipsError) -> Image {
        try Operation.run(
            "thumbnail_image",
            [
                ("in", .image(self)), ("width", .int(width)), ("height", .int(height)),
                ("size", .string("force")), ("no_rotate", .bool(true)),
            ])
    }

    /// Shrinks a picture whose right and lower edges lie inside of its last column and row, as when a photo of odd sides is decoded
    /// at eighths of its size. Only the covered part becomes the result, so nothing is shifted.
    ///
    /// libvips shrinks whole pixels to whole pixels. So the edges are repeated up to a width of which, with some more columns of the
    /// result, a whole number of pixels is a whole number of columns; the surplus is cut off.
    ///
    /// - Parameter covered: the size of the covered part, at most a pixel less than the picture.
    /// - Returns: nil if no few more columns and rows make it whole: see ``marginMax``.
    public func resized(
        width: Int, height: Int, covered: (width: Double, height: Double)
    ) throws(VipsError) -> Image? {
        guard
            let across = Self.wholeMargin(from: self.width, covered: covered.width, to: width),
            let down = Self.wholeMargin(from: self.height, covered: covered.height, to: height)
        else { return nil }
        guard across != (self.width, width) || down != (self.height, height) else {
            return try resized(width: width, height: height)
        }
        let extended = try Operation.run(
            "embed",
            [
                ("in", .image(self)), ("x", .int(0)), ("y", .int(0)),
                ("width", .int(across.from)), ("height", .int(down.from)),
                ("extend", .string("copy")),
            ])
        return try extended.resized(width: across.to, height: down.to).cropped(
            to: PixelArea(left: 0, top: 0, width: width, height: height))
    }

    /// The most columns that are made beside those of the result.
    private static let marginMax = 64
    /// The greatest shift at the far edge, in pixels of the larger picture.
    private static let shiftMax = 0.05

    /// Returns sizes before and after shrinking that have the ratio of the covered part to the result.
    private static func wholeMargin(from size: Int, covered: Double, to result: Int)
        -> (from: Int, to: Int)?
    {
        let step = covered / Double(result)
        for margin in 0...marginMax {
            let exact = covered + Double(margin) * step
            let whole = exact.rounded()
            if abs(whole - exact) <= shiftMax, Int(whole) >= size {
                return (Int(whole), result + margin)
            }
        }
        return nil
    }

    /// Returns the image with text in black on white below it, at least `width` wide. Longer text is wrapped.
    public func labelled(_ text: String, width: Int) throws(VipsError) -> Image {
        // Escapes the markup's special characters, byte by byte: for Swift, one with an accent is another character.
        let bytes = text.utf8.flatMap { byte in
            switch byte {
            case UInt8(ascii: "&"): Array("&amp;".utf8)
            case UInt8(ascii: "<"): Array("&lt;".utf8)
            default: [byte]
            }
        }
        let escaped = String(decoding: bytes, as: UTF8.self)
        let mask = try Operation.run(
            "text",
            [
                ("text", .string(escaped)), ("font", .string("sans 10")),
                ("width", .int(width)), ("align", .string("centre")),
            ])
        let letters = try Operation.run("invert", [("in", .image(mask))])
        let line = try Operation.run(
            "gravity",
            [
                ("in", .image(letters)), ("direction", .string("centre")),
                ("width", .int(max(width, letters.width))),
                ("height", .int(max(Self.labelHeight, letters.height) + Self.labelMargin)),
                ("extend", .string("white")),
            ])
        return try Operation.run(
            "join",
            [
                ("in1", .image(self)), ("in2", .image(line)), ("direction", .string("vertical")),
                ("expand", .bool(true)), ("align", .string("centre")),
                ("background", .doubles([255])),
            ])
    }

    private static let labelHeight = 14
    private static let labelMargin = 8

    /// Arranges images in rows of `across`, centred in equal cells on white.
    public static func grid(_ images: [Image], across: Int, gap: Int) throws(VipsError) -> Image {
        try Operation.run(
            "arrayjoin",
            [
                ("in", .images(images)), ("across", .int(across)), ("shim", .int(gap)),
                ("background", .doubles([255, 255, 255])), ("halign", .string("centre")),
                ("valign", .string("centre")),
            ])
    }

    /// Computes all pixels into memory, so that rows can be read in any order.
    public func inMemory() throws(VipsError) -> Image {
        guard let copy = vips_image_copy_memory(pointer) else {
            throw VipsError.drainingBuffer(operation: "copy_memory")
        }
        return Image(adopting: copy)
    }
}
