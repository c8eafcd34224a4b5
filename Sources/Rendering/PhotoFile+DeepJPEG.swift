import Edits
import PhotoFiles
import Codecs
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

    /// Decodes the picture, and returns its layout.
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
        while let mark = file.byte(offset), mark == 0xFF, let code = file.byte(offset + 1) {
            if code == 0xFF {
                offset += 1
                continue
            }
            guard code != 0xDA, code != 0xD9, let length = file.big(offset + 2, 2), length >= 2
            else { break }
            if (0xE0...0xEF).contains(code) {
                let content = offset + 4..<offset + 2 + length
                markers.append(JPEGMarker(code: UInt8(code), bytes: file.all(content)))
            }
            offset += 2 + length
        }
        return markers
    }
}
