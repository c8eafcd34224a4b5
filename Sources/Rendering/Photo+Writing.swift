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
    ///   - fan: gets the rows of the result.
    ///   - video: the video that follows the photo.
    ///   - spool: the storage for pixels that are needed in any order.
    ///   - failOn: the severity of damage at which the decoder fails.
    func write(
        to target: OpenFile, feeding fan: RenditionFan? = nil, video: AttachedVideo? = nil,
        spool: SpoolSpace?, failOn: Image.FailOn
    ) throws(WritingError) {
        let map: [UInt8]?
        var heicMap: EditedGainMap?
        do {
            let editing = gainMapEditing(spool: spool)
            if try writtenBeforeItsMap(editing, video, to: target, spool: spool, feeding: fan) {
                return
            }
            switch plan.output.format {
            case .heic:
                map = nil
                heicMap = try editing.map { try $0.editing.edited($0.outcome) }
            default: map = try editing.map { try $0.editing.jpeg($0.outcome, scratch: target) }
            }
            if try writtenWithoutPixels(to: target, spool: spool, feeding: fan) {
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
            let opened = try file.image(failOn: failOn, copySize: copySize)
            let standard = try StandardImage(opened)
            let colour = OutputColour(
                plan.output.colorSpace, from: standard, bits: plan.output.bitDepth)
            var image = try edited(standard, as: colour.colour, spool: spool)
            if let fan {
                try fan.begin(self, opened, rows, colour.colour)
                image = try image.feeding(fan, codes: encoding(colour.colour))
            }
            metadata = ResultMetadata(
                of: opened, in: file,
                facts: facts(newColourIsSRGB: colour.newColourIsSRGB),
                strip: plan.output.strip, profile: colour.profile, writing: asked)
            try write(image, with: metadata, to: target, gainMap: heicMap, video: video)
            if plan.output.format == .jpeg { try UltraHDRFile.join(map, video, to: target) }
        } catch let error as VipsError {
            if let failure = fan?.failure { throw .failure(failure) }
            throw .vips(error)
        } catch let failure as Failure {
            throw .failure(failure)
        } catch {
            throw .failure(Failure(.internalError, "\(error)"))
        }
    }

    /// The output with its format, for what is written into the metadata.
    private var asked: Recipe.Output {
        var output = recipe.output
        output.format = plan.output.format
        return output
    }

    /// Decodes and edits the photo for renditions alone.
    func develop(
        into fan: RenditionFan, spool: SpoolSpace?, failOn: Image.FailOn
    ) throws(WritingError) {
        do {
            if plan.lane == .planes, let planes = opened.planes,
                let turn = Planner.turn(of: planned.passes)
            {
                try fan.begin(self, file.image(failOn: .truncated), codes, planes.colour)
                return try planes.write(
                    to: nil, planned.pixelFilters, turned: turn, of: recipe, plan, facts(),
                    spool: planned.spoolStorage(spool), feeding: fan)
            }
            let opened = try file.image(failOn: failOn)
            let standard = try StandardImage(opened)
            let colour = OutputColour(
                plan.output.colorSpace, from: standard, bits: plan.output.bitDepth)
            try fan.begin(self, opened, rows, colour.colour)
            try edited(standard, as: colour.colour, spool: spool).stream(into: fan)
        } catch let error as VipsError {
            throw .vips(error)
        } catch let error as JPEGError {
            throw .failure(Failure(error, photo: file.name))
        } catch {
            throw .failure(Failure(reading: error, photo: file.name))
        }
    }

    /// The layout of the codes that are encoded.
    var codes: PixelProgram.Layout {
        .init(
            sample: plan.output.bitDepth == .eight ? .encoded8 : .encoded16,
            bands: plan.output.keepsAlpha ? 4 : 3)
    }

    /// The layout of the rows after all passes: these codes, or light if renditions need it.
    var rows: PixelProgram.Layout { planned.light ?? codes }

    /// Returns the program that makes codes of rows of light; nil for rows of codes.
    private func encoding(_ colour: PhotoColour) -> PixelProgram? {
        planned.light.map { light in
            PixelProgram(
                source: light, filters: [], target: codes, height: plan.resultSize.height,
                colour: colour, background: plan.output.background)
        }
    }

    /// Returns the facts of a rendition for its metadata.
    func facts(of rendition: PlannedRendition) -> PictureFacts {
        let (placement, reduction) = (rendition.placement, rendition.reduction)
        let size = plan.resultSize
        // Geometries count from the bottom.
        let (across, down) = (reduction.columns, reduction.rows)
        let step = Geometry(
            of: size, size: placement.size,
            toSource: Homography(
                affine: across.step, 0, across.offset - across.step * Double(placement.left), 0,
                down.step,
                Double(size.height) - down.offset
                    - down.step * Double(placement.size.height - placement.top)))
        let positions: PictureFacts.Positions =
            switch self.positions {
            case .same: .moved(step)
            case .moved(let before) where before.size == size: .moved(before.then(step))
            case .moved, .unknown: .unknown
            }
        return PictureFacts(
            size: placement.size, newColourIsSRGB: rendition.output.colorSpace != .displayP3,
            positions: positions, hasGainMap: false,
            contentIdentifier: opened.contentIdentifier)
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
        guard !plan.lane.keepsFile, let outcome = plan.gainMap, outcome.reason == nil,
            let map = opened.companions.map
        else { return nil }
        return (GainMapEditing(photo: self, map: map, spool: spool), outcome)
    }

    /// Writes the photo in planes, followed by the map that is recomputed from the unedited planes. Returns whether it did.
    private func writtenBeforeItsMap(
        _ map: (editing: GainMapEditing, outcome: GainMapOutcome)?, _ video: AttachedVideo?,
        to target: OpenFile, spool: SpoolSpace?, feeding fan: RenditionFan?
    ) throws -> Bool {
        guard let map, map.outcome == .recomputed, plan.lane == .planes,
            let rows = try map.editing.rows(),
            let copy = opened.planes?.copy(
                rows.size, turned: Planner.turn(of: planned.passes) ?? .upright),
            try writtenWithoutPixels(to: target, spool: spool, filling: copy, feeding: fan)
        else { return false }
        let edited = try map.editing.recomputed(rows, of: copy.image())
        let jpeg = try GainMapWriter.jpeg(edited.pixels, edited.metadata, scratch: target)
        try UltraHDRFile.join(jpeg, video, to: target)
        return true
    }

    /// Writes the photo if its lane does not use RGB. Returns whether it did.
    ///
    /// - Parameters:
    ///   - copy: filled from the photo's planes.
    ///   - fan: gets the rows of the result, if the lane has pixels.
    private func writtenWithoutPixels(
        to target: OpenFile, spool: SpoolSpace?, filling copy: PlaneCopy? = nil,
        feeding fan: RenditionFan?
    ) throws -> Bool {
        switch plan.lane {
        case .copy:
            try target.cut(to: 0)
            try FileCopy.copy(file.file, to: target)
        case .metadata:
            guard let copy = try opened.metadataCopy(recipe.output) else {
                throw Failure(.internalError, "\(file.name) has no place for metadata any more.")
            }
            try copy.write(file.file, to: target)
        case .lossless:
            try LosslessLane(file, Planner.geometry(of: planned.passes)).write(
                to: target, strip: plan.output.strip, facts: facts(), writing: asked,
                spool: planned.spoolStorage(spool))
        case .planes:
            guard let planes = opened.planes, let turn = Planner.turn(of: planned.passes) else {
                return false
            }
            try fan?.begin(self, file.image(failOn: .truncated), codes, planes.colour)
            try planes.write(
                to: target, planned.pixelFilters, turned: turn, of: recipe, plan, facts(),
                spool: planned.spoolStorage(spool), filling: copy, feeding: fan)
        case .stream, .spool: return false
        }
        return true
    }

    private func write(
        _ image: Image, with metadata: ResultMetadata, to target: OpenFile,
        gainMap: EditedGainMap?, video: AttachedVideo?
    ) throws {
        let output = plan.output
        switch output.format {
        case .heic:
            try writeHEIC(image, with: metadata, to: target, gainMap: gainMap, video: video)
        case .jpeg: try output.write(image, with: metadata, to: target)
        default:
            if let encoder = try output.rowEncoder(
                EncodedShape(image), metadata, like: image, to: target)
            {
                try image.encode(by: encoder)
            } else {
                try output.write(image, with: metadata, to: target)
            }
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
}
