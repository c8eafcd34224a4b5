import Adjustments
import FileBytes
import JPEG
import Metadata
import RenderProtocol
import Vips

/// Why a photo was not written: libvips' words, or a failure of our own.
enum WritingError: Error {
    case vips(VipsError)
    case failure(Failure)
}

extension Photo {
    /// Decodes, edits and writes it.
    ///
    /// - Parameters:
    ///   - folder: where a spool file may be meanwhile.
    ///   - failOn: at what the decoder gives up.
    func write(to path: String, folder: String, failOn: Image.FailOn) throws(WritingError) {
        do {
            if try writtenWithoutPixels(to: path, folder: folder) { return }
        } catch let error as JPEGError {
            throw .failure(Failure(error, photo: file.path))
        } catch {
            throw .failure(Failure(reading: error, photo: file.path))
        }
        let metadata: ResultMetadata
        do {
            let opened = try file.image(failOn: failOn, copySize: copySize)
            let standard = try StandardImage(opened)
            let target = OutputColour(plan.output.colorSpace, from: standard)
            let image = try edited(standard, as: target.colour, folder: folder)
            metadata = ResultMetadata(
                of: opened, in: file,
                facts: PictureFacts(
                    size: plan.resultSize, newColourIsSRGB: target.newColourIsSRGB),
                strip: plan.output.strip, profile: target.profile)
            try write(image, with: metadata, to: path)
        } catch let error as VipsError {
            throw .vips(error)
        } catch let failure as Failure {
            throw .failure(failure)
        } catch {
            throw .failure(Failure(.internalError, "\(error)"))
        }
    }

    /// Writes it when its lane has no use for RGB; tells whether it did.
    private func writtenWithoutPixels(to path: String, folder: String) throws -> Bool {
        switch plan.lane {
        case .copy:
            try FileCopy.copy(file.path, to: path)
        case .lossless:
            try LosslessLane(file, Planner.geometry(of: planned.passes)).write(
                to: path, strip: plan.output.strip, spool: planned.spoolPlace(folder))
        case .planes:
            guard let planes, let turn = Planner.turn(of: planned.passes) else { return false }
            try planes.write(
                to: path, planned.pixelFilters, turned: turn, of: recipe, plan,
                spool: planned.spoolPlace(folder))
        case .stream, .spool: return false
        }
        return true
    }

    private func write(_ image: Image, with metadata: ResultMetadata, to path: String) throws {
        let format = plan.output.format
        let placeholder = exifForLibvips(metadata).flatMap { ExifPlaceholder(for: $0) }
        try save(
            image.changing(
                metadata.changes(
                    of: image, keepsComments: plan.output.strip != .all,
                    format: format, placeholder: placeholder)),
            to: path)
        try placeholder?.fill(path)
        if format == .tiff {
            try TIFFMetadataFile.append(exif: metadata.exif, iptc: metadata.iptc, to: path)
        }
        if format == .jxl, metadata.exif != nil || metadata.xmp != nil {
            try JXLContainer.wrap(path, exif: metadata.exif, xmp: metadata.xmp)
        }
    }

    /// What libvips is to write: to some formats nothing, to others something in any case, and then it had
    /// better be true.
    private func exifForLibvips(_ metadata: ResultMetadata) -> [UInt8]? {
        switch plan.output.format {
        case .tiff, .jxl: nil
        case .png: metadata.exif
        case .jpeg, .webp, .heic, .avif: metadata.exif ?? Exif.upright
        }
    }

    private func save(_ image: Image, to path: String) throws(VipsError) {
        let output = plan.output
        let quality = output.encoderQuality
        let chroma: Image.ChromaSubsampling = output.chroma == .half ? .on : .off
        let bits = output.bitDepth.rawValue
        switch output.format {
        case .jpeg:
            try image.writeJPEG(
                to: path, quality: quality, chroma: chroma, progressive: output.progressive)
        case .png: try image.writePNG(to: path, progressive: output.progressive)
        case .tiff: try image.writeTIFF(to: path)
        case .webp: try image.writeWebP(to: path, quality: quality)
        case .heic:
            try image.writeHEIF(to: path, .hevc, quality: quality, bits: bits, chroma: chroma)
        case .avif:
            try image.writeHEIF(to: path, .av1, quality: quality, bits: bits, chroma: chroma)
        case .jxl: try image.writeJXL(to: path, quality: quality)
        }
    }
}

extension OutputPlan {
    /// On the encoders' own scale, from 1: 0 means something else to some of them.
    var encoderQuality: Int { max(1, Int((quality * 100).rounded())) }
}
