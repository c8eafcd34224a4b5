import Edits
import PhotoFiles
import Files
import Codecs
import RenderProtocol

/// The reason why a photo was not written: an error of libvips, or a failure of our own.
enum WritingError: Error {
    case vips(VipsError)
    case failure(Failure)
}

extension Photo {
    /// Decodes, edits and writes the photo.
    ///
    /// - Parameters:
    ///   - copies: small copies of the photo that exist already.
    ///   - copy: a copy that is filled if the photo is edited in planes.
    ///   - video: the video that follows the photo.
    ///   - spool: the storage for pixels that are needed in any order.
    ///   - failOn: the severity of damage at which the decoder fails.
    func write(
        to target: OpenFile, from copies: SmallCopies? = nil, filling copy: PlaneCopy? = nil,
        video: AttachedVideo? = nil, spool: SpoolSpace?, failOn: Image.FailOn
    ) throws(WritingError) {
        let map: [UInt8]?
        var heicMap: EditedGainMap?
        do {
            let editing = gainMapEditing(spool: spool)
            let filled = copy.map { [$0] } ?? []
            if try writtenBeforeItsMap(editing, video, to: target, spool: spool, filling: filled) {
                return
            }
            switch plan.output.format {
            case .heic:
                map = nil
                heicMap = try editing.map { try $0.editing.edited($0.outcome) }
            default: map = try editing.map { try $0.editing.jpeg($0.outcome, scratch: target) }
            }
            if try writtenWithoutPixels(to: target, spool: spool, filling: filled) {
                try UltraHDRFile.join(map, video, to: target)
                return
            }
        } catch let error as JPEGError {
            throw .failure(Failure(error, photo: file.name))
        } catch {
            throw .failure(Failure(reading: error, photo: file.name))
        }
        let metadata: ResultMetadata
        do {
            let opened =
                try copies?.image(copySize) ?? file.image(failOn: failOn, copySize: copySize)
            let standard = try StandardImage(opened)
            let colour = OutputColour(
                plan.output.colorSpace, from: standard, bits: plan.output.bitDepth)
            let image = try edited(standard, as: colour.colour, spool: spool)
            metadata = ResultMetadata(
                of: opened, in: file,
                facts: facts(newColourIsSRGB: colour.newColourIsSRGB),
                strip: plan.output.strip, profile: colour.profile)
            try write(image, with: metadata, to: target, gainMap: heicMap, video: video)
            if plan.output.format == .jpeg { try UltraHDRFile.join(map, video, to: target) }
        } catch let error as VipsError {
            throw .vips(error)
        } catch let failure as Failure {
            throw .failure(failure)
        } catch {
            throw .failure(Failure(.internalError, "\(error)"))
        }
    }

    /// Returns the facts of the result for its metadata.
    private func facts(newColourIsSRGB: Bool? = nil) -> PictureFacts {
        PictureFacts(
            size: plan.resultSize, newColourIsSRGB: newColourIsSRGB, positions: positions,
            hasGainMap: plan.gainMap.map { $0.reason == nil } ?? false,
            contentIdentifier: opened.contentIdentifier)
    }

    /// Returns the edit of the photo's gain map; nil if there is no map, and if the file is copied.
    private func gainMapEditing(
        spool: SpoolSpace?
    ) -> (editing: GainMapEditing, outcome: GainMapOutcome)? {
        guard plan.lane != .copy, let outcome = plan.gainMap, outcome.reason == nil,
            let map = opened.companions.map
        else { return nil }
        return (GainMapEditing(photo: self, map: map, spool: spool), outcome)
    }

    /// Writes the photo in planes, followed by the map that is recomputed from the unedited planes. Returns whether it did.
    private func writtenBeforeItsMap(
        _ map: (editing: GainMapEditing, outcome: GainMapOutcome)?, _ video: AttachedVideo?,
        to target: OpenFile, spool: SpoolSpace?, filling copies: [PlaneCopy]
    ) throws -> Bool {
        guard let map, map.outcome == .recomputed, plan.lane == .planes,
            let rows = try map.editing.rows(),
            let copy = opened.planes?.copy(
                rows.size, turned: Planner.turn(of: planned.passes) ?? .upright),
            try writtenWithoutPixels(to: target, spool: spool, filling: copies + [copy])
        else { return false }
        let edited = try map.editing.recomputed(rows, of: copy.image())
        let jpeg = try GainMapWriter.jpeg(edited.pixels, edited.metadata, scratch: target)
        try UltraHDRFile.join(jpeg, video, to: target)
        return true
    }

    /// Writes the photo if its lane does not use RGB. Returns whether it did.
    ///
    /// - Parameter copies: filled from the photo's planes.
    private func writtenWithoutPixels(
        to target: OpenFile, spool: SpoolSpace?, filling copies: [PlaneCopy]
    ) throws -> Bool {
        switch plan.lane {
        case .copy:
            try target.cut(to: 0)
            try FileCopy.copy(file.file, to: target)
        case .lossless:
            try LosslessLane(file, Planner.geometry(of: planned.passes)).write(
                to: target, strip: plan.output.strip, facts: facts(),
                spool: planned.spoolStorage(spool))
        case .planes:
            guard let planes = opened.planes, let turn = Planner.turn(of: planned.passes) else {
                return false
            }
            try planes.write(
                to: target, planned.pixelFilters, turned: turn, of: recipe, plan, facts(),
                spool: planned.spoolStorage(spool), filling: copies)
        case .stream, .spool: return false
        }
        return true
    }

    private func write(
        _ image: Image, with metadata: ResultMetadata, to target: OpenFile,
        gainMap: EditedGainMap?, video: AttachedVideo?
    ) throws {
        switch plan.output.format {
        case .png where !plan.output.progressive && plan.output.compression != .small:
            try image.encode(
                by: PNGEncoder(
                    EncodedShape(image),
                    metadata.ofPNG(image, strip: plan.output.strip), to: target))
        case .tiff:
            try image.encode(
                by: TIFFEncoder(
                    EncodedShape(image), metadata.ofTIFF, level: plan.output.deflateLevel,
                    to: target))
            try TIFFMetadataFile.append(exif: metadata.exif, iptc: metadata.iptc, to: target)
        case .heic:
            try writeHEIC(image, with: metadata, to: target, gainMap: gainMap, video: video)
        default: try writeByLibvips(image, with: metadata, to: target)
        }
    }

    private func writeHEIC(
        _ image: Image, with metadata: ResultMetadata, to target: OpenFile,
        gainMap: EditedGainMap?, video: AttachedVideo?
    ) throws {
        let file = HEICFile(target)
        let encoder = try HEICEncoder(
            EncodedShape(image), plan.output, profile: metadata.profile, in: file)
        let photo = file.boxes.primary
        let exif = metadata.exif.map { (HEIFFile.exifItem($0), file.boxes.addExif(of: photo)) }
        let packet =
            video.map {
                Attachments(video: $0.attachment, photoType: plan.output.format.mediaType)
                    .packet(metadata.xmp)
            } ?? metadata.xmp
        let xmp = packet.map { ($0, file.boxes.addXMP(of: photo)) }
        // The head also describes the map. So the map is written first, and its encoder is freed before the photo's starts.
        let map = try gainMap.map { map throws(Failure) in
            try HEICGainMap(map, size: plan.resultSize, in: file)
        }
        try file.begin()
        try map?.write()
        for (bytes, item) in [exif, xmp].compactMap(\.self) { try file.append(bytes, of: item) }
        try image.encode(by: encoder)
        try file.finish()
        try video?.append(toHEIC: target)
    }

    private func writeByLibvips(
        _ image: Image, with metadata: ResultMetadata, to target: OpenFile
    ) throws {
        let format = plan.output.format
        let placeholder = exifForLibvips(metadata).flatMap { ExifPlaceholder(for: $0) }
        try save(
            image.changing(
                metadata.changes(
                    of: image, strip: plan.output.strip, format: format,
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
        switch plan.output.format {
        case .tiff, .jxl: nil
        case .png: metadata.exif
        case .jpeg, .webp, .avif: metadata.exif ?? Exif.upright
        case .heic, .mov, .mp4: preconditionFailure("libvips writes no such file here")
        }
    }

    private func save(_ image: Image, to file: Int32) throws(VipsError) {
        let output = plan.output
        let quality = EncoderQuality.of(output.quality, output.format)
        let chroma: Image.ChromaSubsampling = output.chroma == .half ? .on : .off
        let bits = output.bitDepth.rawValue
        switch output.format {
        case .jpeg:
            try image.writeJPEG(
                to: file, quality: quality, chroma: chroma, progressive: output.progressive)
        case .png:
            try image.writePNG(
                to: file, progressive: output.progressive, isSmall: output.compression == .small)
        case .tiff: preconditionFailure("a TIFF is written row by row")
        case .webp: try image.writeWebP(to: file, quality: quality)
        case .heic, .mov, .mp4: preconditionFailure("libvips writes no such file here")
        case .avif: try image.writeAVIF(to: file, quality: quality, bits: bits, chroma: chroma)
        case .jxl: try image.writeJXL(to: file, quality: quality)
        }
    }
}

extension OutputPlan {
    /// libdeflate's level for a TIFF, or nil for no compression; the effect of each level is in MEASURED.md beside ``TIFFEncoder``.
    fileprivate var deflateLevel: Int? {
        switch compression {
        case .uncompressed: nil
        case .small: 6
        case .fast, nil: 1
        }
    }

    /// The quality on libjpeg's scale, from 1.
    var encoderQuality: Int { EncoderQuality.of(quality, .jpeg) }
}
