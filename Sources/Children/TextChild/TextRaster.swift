import CText
package import Edits
import Files
import Glibc
package import RenderProtocol

/// Draws texts as coverage.
package struct TextRaster {
    /// The fonts of the last text by digest, checked: a job's texts name the same ones.
    private var kept: [String: [UInt8]] = [:]

    package init() {}

    /// Loads what the first text needs; false without memory. It opens libthai's list of words and OpenSSL's settings, the only files.
    package static func prepare() -> Bool {
        !SHA256.hash(data: []).isEmpty && minilab_text_prepare() != 0
    }

    /// The libraries that draw.
    static var libraries: [LibraryVersion] {
        var (major, minor, patch): (Int32, Int32, Int32) = (0, 0, 0)
        minilab_text_freetype(&major, &minor, &patch)
        return [
            LibraryVersion(name: "FreeType", version: "\(major).\(minor).\(patch)"),
            LibraryVersion(
                name: "HarfBuzz",
                version: minilab_text_harfbuzz().map { String(cString: $0) } ?? "unknown"),
            LibraryVersion(name: LibraryVersion.renderer, version: Engine.version),
        ]
    }

    /// Draws a text into the only output of `files`.
    ///
    /// - Throws: `missingGlyph` with the character; `missingResource` or `badResource` for a font; `exceedsLimit` for too much coverage or
    ///   too many lines; `outOfMemory`.
    mutating func draw(
        _ request: TextRequest, _ files: RenderFiles
    ) throws(Failure) -> TextCoverage {
        try request.check()
        guard let output = files.outputs.first else {
            throw Failure(
                .internalError, "a text came without a place for its coverage. Report this.")
        }
        let drawn = try Self.draw(request, fonts: fonts(of: request, files))
        try output.write(drawn.planes.flatMap(\.self), at: 0)
        return drawn.coverage
    }

    /// A text's coverage in memory.
    package struct Drawn {
        package let coverage: TextCoverage
        /// The planes, each `coverage.size.pixels` bytes.
        package let planes: [[UInt8]]
        package let glyphs: [Glyph]
        /// The size of an em after reduction, in 1/64 pixel.
        package let size: Int
        package let lines: Int
    }

    /// A glyph in visual order, in 1/64 pixel from the top left corner of the box before any turn; y upwards.
    package struct Glyph: Equatable {
        package let number, font, cluster, line, x, y, advance: Int
    }

    /// Draws a text.
    ///
    /// - Parameter fonts: the bytes of the request's fonts, in their order.
    package static func draw(
        _ request: TextRequest, fonts: [[UInt8]]
    ) throws(Failure) -> Drawn {
        var drawing = minilab_text_drawing()
        defer { minilab_text_free(&drawing) }
        let status = withJob(request, fonts) { minilab_text_draw($0, &drawing) }
        guard status == MINILAB_TEXT_OK.rawValue else {
            throw failure(status, drawing, request)
        }
        let size = PixelSize(width: Int(drawing.width), height: Int(drawing.height))
        let made: [UnsafeMutablePointer<UInt8>?] = [drawing.fill, drawing.outer]
        let planes = made.compactMap(\.self).map {
            Array(UnsafeBufferPointer(start: $0, count: size.pixels))
        }
        let glyphs = UnsafeBufferPointer(start: drawing.glyphs, count: drawing.glyph_count).map {
            Glyph(
                number: Int($0.glyph), font: Int($0.font), cluster: Int($0.cluster),
                line: Int($0.line), x: Int($0.x), y: Int($0.y), advance: Int($0.advance))
        }
        let coverage = TextCoverage(
            box: PixelSize(width: Int(drawing.flat_width), height: Int(drawing.flat_height)),
            left: Int(drawing.left), top: Int(drawing.top), size: size, planes: planes.count,
            isReduced: Int(drawing.size) < request.size, isCut: drawing.is_cut != 0,
            hasSkipped: drawing.is_skipped != 0, isRestricted: drawing.is_restricted != 0,
            libraries: libraries)
        return Drawn(
            coverage: coverage, planes: planes, glyphs: glyphs, size: Int(drawing.size),
            lines: Int(drawing.lines))
    }

    /// Reads the fonts, each checked against its digest.
    private mutating func fonts(
        of request: TextRequest, _ files: RenderFiles
    ) throws(Failure) -> [[UInt8]] {
        // The others make room for new ones.
        kept = kept.filter { digest, _ in request.fonts.contains { $0.digest == digest } }
        var fonts: [[UInt8]] = []
        var room = TextRequest.allFontBytesMax
        for font in request.fonts {
            guard let file = files.resources[font.digest] else {
                throw Failure(
                    .missingResource,
                    "A text names the font \(font.digest), and the folder of resources has no such file. Put it there, named "
                        + "by its digest, and give the folder to the worker with --resources.")
            }
            let length = try file.length()
            let most = min(TextRequest.fontBytesMax, room)
            guard length <= most else {
                throw Failure(
                    .badResource,
                    "The font \(font.digest) has \(length) bytes; a font has at most \(TextRequest.fontBytesMax), and all fonts "
                        + "of a text together \(TextRequest.allFontBytesMax).")
            }
            room -= length
            if let bytes = kept[font.digest] {
                fonts.append(bytes)
                continue
            }
            let bytes = file.bytes(from: 0, count: length)
            let found = SHA256.hash(data: bytes).hex
            guard bytes.count == length, "sha256:" + found == font.digest else {
                throw Failure(
                    .badResource,
                    "The file of \(font.digest) has content that does not match its name: \(found)."
                )
            }
            kept[font.digest] = bytes
            fonts.append(bytes)
        }
        return fonts
    }

    private static func failure(
        _ status: Int32, _ drawing: minilab_text_drawing, _ request: TextRequest
    ) -> Failure {
        switch minilab_text_status(rawValue: UInt32(status)) {
        case MINILAB_TEXT_MISSING:
            let scalar = Unicode.Scalar(drawing.missing)
            let character = scalar.map { " (\"\(String($0).printable)\")" } ?? ""
            let hex = String(drawing.missing, radix: 16, uppercase: true)
            let name = "U+" + String(repeating: "0", count: max(0, 4 - hex.count)) + hex
            return Failure(
                .missingGlyph,
                "No font of a text has the character \(name)\(character) as an outline; colour glyphs are not drawn. Add a "
                    + "font that has it to \"fonts\", or set \"missing\" to \"skip\".")
        case MINILAB_TEXT_BAD_FONT:
            let font =
                drawing.bad_font < request.fonts.count ? request.fonts[drawing.bad_font] : nil
            return Failure(
                .badResource,
                "\(font?.digest ?? "A font") is no TrueType or OpenType font that can be used, or has no face \(font?.index ?? 0) "
                    + "or one of the axes that the text sets.")
        case MINILAB_TEXT_TOO_LARGE:
            return Failure(
                .exceedsLimit,
                "A text has more than \(TextRequest.pixelsMax) pixels, or more outlines than a font of letters. Choose a smaller "
                    + "size.")
        case MINILAB_TEXT_OVERFLOW:
            return Failure(
                .exceedsLimit,
                "A text has more than \(ContractLimits.textLinesMax) lines. Choose a smaller size or a longer maxWidth, or "
                    + "set \"overflow\" to \"cut\".")
        default:
            return Failure(.outOfMemory, "There is no memory for a text.")
        }
    }

    /// Calls the body with a job that points to the request's values.
    private static func withJob(
        _ request: TextRequest, _ fonts: [[UInt8]],
        _ body: (UnsafePointer<minilab_text_job>) -> Int32
    ) -> Int32 {
        let axes = request.fonts.map { font in
            font.axes.sorted { $0.key < $1.key }.map { tag, value in
                let bytes = Array(tag.utf8.prefix(4)) + [UInt8](repeating: 0x20, count: 4)
                return minilab_text_axis(
                    tag: (
                        CChar(bitPattern: bytes[0]), CChar(bitPattern: bytes[1]),
                        CChar(bitPattern: bytes[2]), CChar(bitPattern: bytes[3])
                    ), value: Float(value))
            }
        }
        var given: [minilab_text_font] = []
        func withFonts(_ index: Int, _ body: () -> Int32) -> Int32 {
            guard index < fonts.count else { return body() }
            return fonts[index].withUnsafeBufferPointer { bytes in
                axes[index].withUnsafeBufferPointer { axes in
                    given.append(
                        minilab_text_font(
                            bytes: bytes.baseAddress, count: bytes.count,
                            index: UInt32(request.fonts[index].index), axes: axes.baseAddress,
                            axis_count: axes.count))
                    return withFonts(index + 1, body)
                }
            }
        }
        var job = minilab_text_job()
        job.font_count = fonts.count
        job.size = Int32(request.size)
        job.max_width = Int32(request.maxWidth)
        job.within_width = Int32(request.within.width)
        job.within_height = Int32(request.within.height)
        job.stroke = Int32(request.stroke)
        job.turn = request.turn
        job.lines_max = Int32(ContractLimits.textLinesMax)
        job.align = Int32(request.alignment.rawValue)
        job.may_cut = request.mayCut ? 1 : 0
        job.may_skip = request.maySkip ? 1 : 0
        job.pixels_max = Int64(TextRequest.pixelsMax)
        return request.text.withCString { text in
            job.text = text
            job.text_count = strlen(text)
            return withFonts(0) {
                given.withUnsafeBufferPointer { given in
                    job.fonts = given.baseAddress
                    guard let language = request.language else { return body(&job) }
                    return language.withCString { language in
                        job.language = language
                        return body(&job)
                    }
                }
            }
        }
    }
}
