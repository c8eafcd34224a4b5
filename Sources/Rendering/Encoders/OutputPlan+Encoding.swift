import Codecs
import Edits
import Files
import PhotoFiles
import RenderProtocol

extension OutputPlan {
    /// Returns the encoder that takes rows; nil for a format whose encoder needs the whole picture.
    ///
    /// - Parameter header: a picture with the original's texts of a PNG.
    /// - Throws: `outOfMemory`, `noSpace`, `ioFailure`, `internalError`.
    func rowEncoder(
        _ shape: EncodedShape, _ metadata: ResultMetadata, like header: Image, to target: OpenFile
    ) throws(Failure) -> (any RowEncoder)? {
        switch format {
        case .jpeg: try JPEGRowEncoder(shape, self, metadata, to: target)
        case .png where !progressive && compression != .small:
            try PNGEncoder(shape, metadata.ofPNG(header, strip: strip), to: target)
        case .tiff: try TIFFWithMetadata(shape, metadata, level: deflateLevel, to: target)
        case .heic: try HEICAlone(shape, self, metadata, to: target)
        case .png, .webp, .avif, .jxl: nil
        case .mov, .mp4: preconditionFailure("a movie is not written here")
        }
    }

    /// Writes a picture by an encoder of libvips.
    func write(
        _ image: Image, with metadata: ResultMetadata, to target: OpenFile
    ) throws {
        let placeholder = exifForLibvips(metadata).flatMap { ExifPlaceholder(for: $0) }
        try save(
            image.changing(
                metadata.changes(
                    of: image, strip: strip, format: format,
                    placeholder: placeholder)),
            to: target.descriptor)
        try placeholder?.fill(target)
        if format == .jpeg, let parts = metadata.jpegXMP?.parts {
            try ExtendedXMPFile.add(parts, to: target)
        }
        if format == .jxl, metadata.exif != nil || metadata.xmp != nil {
            try JXLContainer.wrap(target, exif: metadata.exif, xmp: metadata.xmp)
        }
    }

    /// Returns the EXIF that libvips writes: none for some formats. For others it writes EXIF in any case, so it is given correct
    /// EXIF.
    private func exifForLibvips(_ metadata: ResultMetadata) -> [UInt8]? {
        switch format {
        case .tiff, .jxl: nil
        case .png: metadata.exif
        case .jpeg, .webp, .avif: metadata.exif ?? Exif.upright
        case .heic, .mov, .mp4: preconditionFailure("libvips writes no such file here")
        }
    }

    private func save(_ image: Image, to file: Int32) throws(VipsError) {
        let quality = EncoderQuality.of(quality, format)
        let chroma: Image.ChromaSubsampling = chroma == .half ? .on : .off
        let bits = bitDepth.rawValue
        switch format {
        case .jpeg:
            try image.writeJPEG(
                to: file, quality: quality, chroma: chroma, progressive: progressive)
        case .png:
            try image.writePNG(
                to: file, progressive: progressive, isSmall: compression == .small)
        case .tiff: preconditionFailure("a TIFF is written row by row")
        case .webp: try image.writeWebP(to: file, quality: quality)
        case .heic, .mov, .mp4: preconditionFailure("libvips writes no such file here")
        case .avif: try image.writeAVIF(to: file, quality: quality, bits: bits, chroma: chroma)
        case .jxl: try image.writeJXL(to: file, quality: quality)
        }
    }

    /// libdeflate's level for a TIFF, or nil for no compression; the effect of each level is in MEASURED.md beside ``TIFFEncoder``.
    private var deflateLevel: Int? {
        switch compression {
        case .uncompressed: nil
        case .small: 6
        case .fast, nil: 1
        }
    }

    /// The quality on libjpeg's scale, from 1.
    var encoderQuality: Int { EncoderQuality.of(quality, .jpeg) }
}

/// Writes a JPEG from rows of RGB.
final class JPEGRowEncoder: RowEncoder {
    private let writer: JPEGWriter
    private let name: String

    /// - Throws: `noSpace`, `ioFailure`, `outOfMemory`.
    init(
        _ shape: EncodedShape, _ output: OutputPlan, _ metadata: ResultMetadata, to file: OpenFile
    ) throws(Failure) {
        name = file.name
        let luma: JPEGLayout.Sampling =
            switch output.chroma {
            case .full: .init(1, 1)
            case .halfColumns: .init(2, 1)
            case .half: .init(2, 2)
            }
        do {
            writer = try JPEGWriter(
                file.descriptor,
                layout: JPEGLayout(
                    width: shape.width, height: shape.height, colour: .ycbcr,
                    sampling: [luma, .init(1, 1), .init(1, 1)]),
                coding: JPEGCoding(
                    quality: output.encoderQuality, isProgressive: output.progressive),
                comesInRows: true, markers: metadata.ofJPEG)
        } catch {
            throw Failure(error, photo: file.name)
        }
    }

    func append(_ row: UnsafeRawBufferPointer) throws(Failure) {
        guard let start = row.baseAddress else { return }
        do {
            try writer.writeRow(start)
        } catch {
            throw Failure(error, photo: name)
        }
    }

    func finish() throws(Failure) {
        do {
            try writer.finish()
        } catch {
            throw Failure(error, photo: name)
        }
    }
}

/// Writes a TIFF with the metadata that follow its pixels.
private final class TIFFWithMetadata: RowEncoder {
    private let encoder: TIFFEncoder
    private let metadata: ResultMetadata
    private let file: OpenFile

    init(
        _ shape: EncodedShape, _ metadata: ResultMetadata, level: Int?, to file: OpenFile
    ) throws(Failure) {
        encoder = try TIFFEncoder(shape, metadata.ofTIFF, level: level, to: file)
        (self.metadata, self.file) = (metadata, file)
    }

    func append(_ row: UnsafeRawBufferPointer) throws(Failure) { try encoder.append(row) }

    func finish() throws(Failure) {
        try encoder.finish()
        try TIFFMetadataFile.append(
            exif: metadata.exif, iptc: metadata.iptc, paths: metadata.paths, to: file)
    }
}

/// Writes a HEIC of one photo, without a gain map or a video.
private final class HEICAlone: RowEncoder {
    private let file: HEICFile
    private let encoder: HEICEncoder

    init(
        _ shape: EncodedShape, _ output: OutputPlan, _ metadata: ResultMetadata,
        to target: OpenFile
    ) throws(Failure) {
        file = HEICFile(target)
        encoder = try HEICEncoder(shape, output, profile: metadata.profile, in: file)
        let photo = file.boxes.primary
        let exif = metadata.exif.map { (HEIFFile.exifItem($0), file.boxes.addExif(of: photo)) }
        let xmp = metadata.xmp.map { ($0, file.boxes.addXMP(of: photo)) }
        try file.begin()
        for (bytes, item) in [exif, xmp].compactMap(\.self) { try file.append(bytes, of: item) }
    }

    func append(_ row: UnsafeRawBufferPointer) throws(Failure) { try encoder.append(row) }

    func finish() throws(Failure) {
        try encoder.finish()
        try file.finish()
    }
}
