import Codecs
import Edits
import Files
import PhotoFiles
import RenderProtocol

extension PhotoFile {
    /// Opens a JPEG of 12 bits a sample, which libjpeg-turbo before version 3 does not read, by libavcodec; nil for all others.
    ///
    /// - Throws: `VipsError`, `damagedPhoto`, or `unsupportedFormat`.
    func deepJPEGImage() throws -> Image? {
        guard let survey, survey.isDeepJPEG, let size = survey.size else { return nil }
        let picture = DeepJPEG(self, size)
        let layout: FrameLayout
        do throws(CodecError) {
            layout = try picture.layout()
        } catch {
            throw picture.failure(error)
        }
        let isGrey = !layout.hasChroma
        let image = try Image.suppliedRows(
            RegionPicture(
                width: layout.width, height: layout.height, bands: isGrey ? 1 : 3, format: .ushort,
                interpretation: isGrey ? "grey16" : "rgb16")
        ) { picture.makeRow(into: $0.assumingMemoryBound(to: UInt16.self)) }
        return try image.changing(
            [.setInt("jpeg-multiscan", 1)] + DeepJPEG.metadata(of: self))
    }
}

/// The pixels of a JPEG of 12 bits a sample: luma and chroma as in JFIF, or grey, or red, green and blue.
private final class DeepJPEG {
    private let photo: PhotoFile
    private let size: PixelSize
    private var decoder: VideoDecoder?
    private var frame: DecodedFrame?
    private var y = 0

    init(_ photo: PhotoFile, _ size: PixelSize) { (self.photo, self.size) = (photo, size) }

    /// libavcodec's samples have 16 bits, of which the lower four are 0.
    private static let most: Float = 4095 * 16

    func layout() throws(CodecError) -> FrameLayout {
        let decoder = try VideoDecoder(
            .mjpeg, configuration: [],
            limits: .init(
                pixelsMax: max(size.pixels, 1) + DeepJPEG.paddingMax,
                bytesMax: 8 * (size.pixels + DeepJPEG.paddingMax)))
        var window = photo.window
        try decoder.send(window.all(0..<window.length))
        try decoder.finish()
        guard let frame = try decoder.receive(),
            frame.layout.width == size.width, frame.layout.height == size.height
        else { throw CodecError(kind: .damaged, step: "find a picture") }
        guard frame.layout.bits == 16, !frame.hasAlpha else {
            throw CodecError(kind: .unsupported, step: "read samples of \(frame.layout.bits) bits")
        }
        (self.decoder, self.frame) = (decoder, frame)
        return frame.layout
    }

    /// The most pixels by which a decoder may enlarge a picture.
    private static let paddingMax = 1 << 20

    /// Makes the next row; nil if it succeeded.
    func makeRow(into row: UnsafeMutablePointer<UInt16>) -> String? {
        guard let frame, y < size.height else { return "jpegload: there are no more rows" }
        defer { y += 1 }
        let layout = frame.layout
        func samples(_ index: Int) -> (UnsafePointer<UInt16>, Int) {
            let plane = frame.planes[index]
            let line = index == 0 ? y : y >> layout.chromaShift.y
            let start = plane.start + min(line, plane.height - 1) * plane.stride
            return (start.assumingMemoryBound(to: UInt16.self), plane.width)
        }
        let (luma, width) = samples(0)
        guard layout.hasChroma else {
            for x in 0..<width { row[x] = Self.code(Float(luma[x])) }
            return nil
        }
        let ((blue, chromaWidth), (red, _)) = (samples(1), samples(2))
        // With matrix 0, planes are green, blue and red.
        let isRGB = layout.matrix == 0
        for x in 0..<width {
            let place = min(x >> layout.chromaShift.x, chromaWidth - 1)
            let (first, second, third) = (
                Float(luma[x]), Float(blue[place]), Float(red[place])
            )
            let out = row + 3 * x
            if isRGB {
                (out[0], out[1], out[2]) = (
                    Self.code(third), Self.code(first), Self.code(second)
                )
                continue
            }
            // JFIF 1.02, with 2,048 of 4,095 for no colour.
            let (b, r) = (second - 2048 * 16, third - 2048 * 16)
            out[0] = Self.code(first + 1.402 * r)
            out[1] = Self.code(first - 0.344136 * b - 0.714136 * r)
            out[2] = Self.code(first + 1.772 * b)
        }
        return nil
    }

    private static func code(_ sample: Float) -> UInt16 {
        UInt16(min(max(sample / most, 0), 1) * 65_535 + 0.5)
    }

    func failure(_ error: CodecError) -> Failure {
        guard error.kind == .unsupported else {
            let code: FailureCode = error.kind == .memory ? .outOfMemory : .damagedPhoto
            return Failure(code, rendering: photo.name, "jpeg of 12 bits a sample: \(error)")
        }
        return Failure(
            .unsupportedFormat,
            "\(photo.name) is a JPEG of 12 bits a sample, of a kind that this version's libavcodec does not read. Export it as a "
                + "JPEG of 8 bits a sample, or as a PNG or TIFF of 16; trying again does not help. (\(error))"
        )
    }

    /// Returns the metadata before the first scan, in libvips' fields.
    static func metadata(of photo: PhotoFile) -> [Image.MetadataChange] {
        var window = photo.window
        let markers = JPEGMarker.segments(of: &window)
        var fields: [Image.MetadataChange] = []
        if let exif = markers.first(where: { $0.code == 0xE1 && $0.starts(with: Signature.exif) }) {
            fields.append(.setData("exif-data", exif.bytes))
            let tiff = Exif.withoutPrefix(exif.bytes)
            let directory = TIFFBytes.FirstDirectory { Array(tiff.dropFirst($0).prefix($1)) }
            fields.append(.setInt("orientation", directory?[.orientation] ?? 1))
        }
        if let xmp = markers.xmp { fields.append(.setData("xmp-data", xmp)) }
        if let iptc = markers.first(where: {
            $0.code == 0xED && $0.starts(with: Signature.photoshop)
        }) {
            fields.append(.setData("iptc-data", iptc.bytes))
        }
        if case .whole(let profile) = markers.profile {
            fields.append(.setData("icc-profile-data", profile))
        }
        return fields
    }
}

extension JPEGMarker {
    /// Reads the APPn segments before the first scan, within the limits that the survey has checked.
    fileprivate static func segments(of file: inout FileWindow) -> [JPEGMarker] {
        var markers: [JPEGMarker] = []
        var offset = 2
        while let (code, content) = file.jpegSegment(at: offset), code != 0xDA, code != 0xD9 {
            if (0xE0...0xEF).contains(code) {
                markers.append(JPEGMarker(code: code, bytes: file.all(content)))
            }
            offset = content.upperBound
        }
        return markers
    }
}

extension PhotoFile {
    /// Opens a JPEG: libvips reads its metadata, and ``JPEGReader`` its pixels, so that there is one list of warnings that lose no
    /// pixel. Nil for other formats, and for colours that neither is known to read alike.
    ///
    /// - Throws: `VipsError`, or the failure of reading the header.
    func jpegImage() throws -> Image? {
        guard format == .jpeg else { return nil }
        let original = try Image.open(
            descriptor, loader: "jpegload", streaming: true, failOn: .truncated)
        // The stream stays within limits on pixels and scans; coefficients of a progressive photo need memory by the estimate.
        let limits = jpegLimits(coefficientBytesMax: .max)
        let header: JPEGHeader
        do throws(JPEGError) {
            header = try JPEGReader(descriptor, limits: limits).header
        } catch {
            throw Failure(error, photo: name)
        }
        let bands: Int
        switch header.layout.colour {
        case .grey: bands = 1
        case .rgb, .ycbcr: bands = 3
        case .cmyk, .ycck: bands = 4
        case .unknown: return nil
        }
        let size = (width: header.layout.width, height: header.layout.height)
        guard original.width == size.width, original.height == size.height, original.bands == bands
        else { return nil }
        let rows = JPEGRows(file, limits, size)
        // Inks of a JPEG are stored inverted, as Adobe's programs do it; libvips takes all files for such.
        let isInverted = bands == 4
        return try Image.suppliedRows(
            RegionPicture(
                width: size.width, height: size.height, bands: bands, format: .uchar,
                interpretation: original.interpretation), like: original
        ) { row in
            if let problem = rows.next(into: row) { return problem }
            guard isInverted else { return nil }
            let codes = row.assumingMemoryBound(to: UInt8.self)
            for index in 0..<4 * size.width { codes[index] = 255 - codes[index] }
            return nil
        }
    }

    /// Whether a JPEG ends without its end marker (EOI). It is rendered if all pixels are there.
    ///
    /// Most files end in the marker. In others, such as motion photos, it is searched behind the first scan's header; coded pixels
    /// do not contain it.
    var hasNoEnd: Bool {
        guard format == .jpeg, let start = survey?.codesOffset else { return false }
        let tailBytes = min(Self.tailBytes, byteRange.count)
        let tail = bytes(from: byteRange.count - tailBytes, count: tailBytes)
        if Self.containsEnd(tail[...]) { return false }
        var window = window
        var offset = start
        while true {
            let part = window.stretch(offset, atLeast: 2)
            guard part.count >= 2 else { return true }
            if Self.containsEnd(part) { return false }
            // The last byte may be the first one of the marker.
            offset += part.count - 1
        }
    }

    /// Bytes that are searched before the whole file is: programs append few others.
    private static let tailBytes = 4096

    private static func containsEnd(_ bytes: ArraySlice<UInt8>) -> Bool {
        zip(bytes, bytes.dropFirst()).contains { $0 == 0xFF && $1 == 0xD9 }
    }
}

/// Rows of a JPEG of full size, from top to bottom; opened at the first one.
private final class JPEGRows {
    private let file: OpenFile
    private let limits: JPEGLimits
    private let size: (width: Int, height: Int)
    private var reader: JPEGReader?
    private var rows = 0

    init(_ file: OpenFile, _ limits: JPEGLimits, _ size: (width: Int, height: Int)) {
        (self.file, self.limits, self.size) = (file, limits, size)
    }

    /// Decodes the next row; after the last one, the rest of the file is read to verify that it is complete.
    ///
    /// - Returns: an error, or nil.
    func next(into row: UnsafeMutableRawPointer) -> String? {
        do throws(JPEGError) {
            if reader == nil { reader = try started() }
            guard let reader else { return nil }
            try reader.readRow(into: row.assumingMemoryBound(to: UInt8.self))
            rows += 1
            guard rows == size.height else { return nil }
            try reader.finish()
            self.reader = nil
            return nil
        } catch {
            return error.message
        }
    }

    private func started() throws(JPEGError) -> JPEGReader {
        let reader = try JPEGReader(file.descriptor, limits: limits)
        _ = try reader.startRows()
        return reader
    }
}

extension JPEGError {
    /// The message by which ``Failure/code(operation:text:format:)`` classifies failures.
    fileprivate var message: String {
        switch kind {
        case .damaged: "jpegload: \(text)"
        case .unsupported, .overLimit: "jpegload: unsupported: \(text)"
        case .outOfMemory: "jpegload: out of memory: \(text)"
        case .notRead, .notWritten: "jpegload: unix error: \(text)"
        case .notStored, .misused: "not found: \(text)"
        }
    }
}
