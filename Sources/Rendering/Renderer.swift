import Codecs
public import Edits
import Files
import PhotoFiles
public import RenderProtocol

/// Reads, edits and writes photos, one at a time.
public struct Renderer: Sendable {
    /// Called when a photo's header is within limits, before a decoder opens the photo.
    var willDecode: @Sendable () -> Void = {}
    /// Called when the render is planned, before pixels are rendered.
    var willRender: @Sendable (Photo, RenderFiles) throws(Failure) -> Void = {
        _, _ throws(Failure) in
    }

    /// Starts libvips, once per process.
    ///
    /// - Parameters:
    ///   - threads: threads that compute pixels. The result is the same for any number.
    ///   - tileHeight: rows that are computed at a time, or nil for the default. The result is the same for any number.
    /// - Throws: `internalError` if libvips does not start.
    public init(
        threads: Int = 1, tileHeight: Int? = nil, reportsLeaks: Bool = false
    ) throws(Failure) {
        var settings = VipsLibrary.Settings(threads: threads, reportsLeaks: reportsLeaks)
        if let tileHeight { settings.tileHeight = tileHeight }
        do {
            try VipsLibrary.start(settings)
        } catch {
            throw Failure(.internalError, "libvips does not start: \(error). Install libvips42.")
        }
    }

    /// Makes libraries compile their run-time code into memory now, because no executable memory can be mapped once the process is
    /// confined.
    ///
    /// - Throws: `internalError` if libvips fails.
    package func reserveCode() throws(Failure) {
        do {
            try VipsLibrary.reserveVectorCode()
        } catch {
            throw Failure(.internalError, "libvips cannot prepare to shrink pictures: \(error)")
        }
    }

    /// Reads a header and plans the render. It reads pixels only for an automatic filter.
    public func inspect(
        _ request: PhotoRequest, _ files: RenderFiles
    ) throws(Failure) -> Inspection {
        let work = try plan(request, files)
        // A preview of a photo that is smaller than the preview is also made from the photo itself.
        let first =
            work.full.map { work.pictures[$0] } ?? work.renditions?.source
            ?? work.pictures.first { $0?.copySize == nil } ?? work.pictures[0]
        guard let first else { throw Failure(.internalError, "a request has no picture.") }
        let needs =
            work.pictures.compactMap { $0?.plan.estimate.memoryBytes }
            + [work.renditions?.source.plan.estimate.memoryBytes].compactMap(\.self)
        return Inspection(
            header: first.opened.header, recipe: first.opened.recipe, plan: first.plan,
            memoryBytes: needs.max() ?? 0,
            texts: request.readsTexts == true
                ? (first.opened.metadata?.texts ?? PhotoTexts()).fittingReply : nil)
    }

    /// Renders a photo into the outputs of a request: pictures in their order, then the renditions, which are made of the rows of the full
    /// picture.
    ///
    /// - Parameter progress: receives the progress.
    /// - Throws: a code of the photo or resource groups. The contents of the outputs are then invalid.
    public func render(
        _ request: PhotoRequest, _ files: RenderFiles,
        progress: (RenderReply.Progress) throws(Failure) -> Void = { _ throws(Failure) in }
    ) throws(Failure) {
        guard request.isFilled else {
            throw Failure(
                .internalError, "a request to render has placeholders that are not filled in.")
        }
        let work = try plan(request, files)
        guard files.outputs.count == request.outputs.count else {
            throw Failure(
                .internalError,
                "a request for \(request.outputs.count) pictures came with \(files.outputs.count) files for them."
            )
        }
        let spool = files.spool.map(SpoolSpace.init)
        let fan = work.renditions.map { plan in
            RenditionFan(plan, into: files.outputs, spool: spool) { rendition throws(Failure) in
                try MarkPainter(rendition, request.outputs[rendition.index].texts, files)
            }
        }
        if let fan, fan.plan.isAlone {
            try willRender(fan.plan.source, files)
            try applying(fan.plan.source) { photo throws(WritingError) in
                try photo.develop(into: fan, spool: spool, failOn: .warning)
            }
            try fan.finish(report: progress)
        }
        for (index, photo) in work.pictures.enumerated() {
            guard let photo else { continue }
            try willRender(photo, files)
            let shared = index == work.full && fan?.plan.isAlone == false ? fan : nil
            if photo.isMovie, let movie = photo.opened.movie {
                try MovieWriter(photo, movie).write(
                    request.outputs[index], to: files.outputs[index], files, progress: progress)
            } else {
                let video = try video(
                    of: photo, scratch: files.outputs[index], spool: spool, progress)
                try applying(photo) { photo throws(WritingError) in
                    try photo.write(
                        to: files.outputs[index], feeding: shared, video: video, spool: spool,
                        failOn: .warning)
                }
            }
            try shared?.finish(report: progress)
            try progress(.written(index))
        }
    }

    /// The planned outputs of a request.
    private struct Work {
        /// By number; nil for renditions.
        let pictures: [Photo?]
        /// The number of the full picture, if it is an output.
        let full: Int?
        let renditions: RenditionPlan?
    }

    private func plan(
        _ request: PhotoRequest, _ files: RenderFiles
    ) throws(Failure) -> Work {
        let range = PhotoRequest.threadsRange
        guard request.threads.map(range.contains) ?? true else {
            throw Failure(
                .internalError,
                "a request asks for \(request.threads ?? 0) threads; expected \(range).")
        }
        guard files.sources.count == 1,
            (1...PhotoRequest.outputsMax).contains(request.outputs.count)
        else {
            throw Failure(
                .internalError,
                "a request has \(files.sources.count) photos and \(request.outputs.count) outputs; expected "
                    + "is one photo and 1 to \(PhotoRequest.outputsMax) outputs.")
        }
        let file = try PhotoFile(
            files.sources[0], limits: request.limits,
            posterTime: request.recipe.output.movie.posterTime)
        willDecode()
        let opened = try OpenedPhoto(
            file, recipe: request.recipe, limits: request.limits,
            resources: Resources(files: files.resources), pictures: request.pictures,
            contentIdentifier: request.contentIdentifier, readsMetadata: request.readsMetadata)
        let full = request.outputs.firstIndex { $0.isFull && $0.segment == nil }
        let renditions = try RenditionPlan(request, opened, isWritten: full != nil) {
            memoryMax, bytes throws(Failure) in
            try Photo(
                opened, format: full.flatMap { request.outputs[$0].format },
                memoryMax: memoryMax, renditionBytes: bytes, threads: request.threads,
                feedsRenditions: true)
        }
        var pictures: [Photo?] = []
        for (index, output) in request.outputs.enumerated() {
            if output.rendition != nil {
                pictures.append(nil)
            } else if index == full, let renditions, !renditions.isAlone {
                pictures.append(renditions.source)
            } else {
                pictures.append(
                    try Photo(
                        opened, format: output.format,
                        copy: output.longestSide.map(Photo.Copy.longestSide),
                        segment: output.segment, memoryMax: request.memoryMax,
                        threads: request.threads))
            }
        }
        return Work(pictures: pictures, full: full, renditions: renditions)
    }

    /// Returns the encoded video that follows a photo; nil if there is none, or if it turns out to be damaged, which is reported.
    private func video(
        of photo: Photo, scratch: OpenFile, spool: SpoolSpace?,
        _ progress: (RenderReply.Progress) throws(Failure) -> Void
    ) throws(Failure) -> AttachedVideo? {
        guard let clip = photo.clip else { return nil }
        do throws(Failure) {
            return try clip.rendered(scratch: scratch, spool: spool)
        } catch  where MotionClip.faults.contains(error.code) {
            try progress(.dropped(error))
            return nil
        }
    }

    /// Refuses a TIFF of which libvips lost pixels: it calls that a success. Other formats fail by themselves.
    ///
    /// - Throws: `damagedPhoto`, or `outOfMemory`.
    private static func checkLoss(_ file: PhotoFile) throws(WritingError) {
        guard let loss = VipsLibrary.takeLoss(), file.format == .tiff else { return }
        throw .failure(
            Failure(
                Failure.code(operation: "tiffload", text: loss, format: .tiff),
                rendering: file.name, loss))
    }

    /// Runs the work on a photo with the threads and tiles of its plan.
    private func applying(
        _ photo: Photo, _ work: (Photo) throws(WritingError) -> Void
    ) throws(Failure) {
        let usual = MemoryRoom.ofProcess
        photo.planned.room.apply()
        defer { usual.apply() }
        do {
            try work(photo)
            try Self.checkLoss(photo.file)
        } catch {
            switch error {
            case .vips(let error):
                throw Failure(
                    classifying: error, photo: photo.file.name, format: photo.file.format)
            case .failure(let failure): throw failure
            }
        }
    }
}

extension PhotoTexts {
    /// The texts with as many creators as a line of a reply has room for; a placeholder shows no more than 200 characters of them.
    fileprivate var fittingReply: PhotoTexts {
        var texts = self
        var bytes = 0
        texts.creator = Array(
            creator.prefix {
                bytes += $0.utf8.count
                return bytes <= Self.bytesMax
            })
        return texts
    }
}

extension Renderer {
    /// Writes a picture of 64 × 64 pixels in a format, by the code for photos, and reads it back.
    ///
    /// Encoders and decoders are libraries of the machine, and some are loaded by name. A missing or incompatible one is not
    /// visible in any header: libvips 8.14 with libheif 1.19 reads HEIC and fails to write any.
    ///
    /// - Parameters:
    ///   - bitDepth: bits of a written sample; nil for the usual ones.
    ///   - files: three outputs: for the picture, for the encoded file, and for the picture decoded from it.
    /// - Throws: `internalError` with the cause.
    package func tryFormat(
        _ format: Recipe.Format, _ bitDepth: Recipe.BitDepth?, _ files: RenderFiles
    ) throws(Failure) {
        guard files.outputs.count == 3 else {
            throw Failure(
                .internalError,
                "a request to try a format came with \(files.outputs.count) outputs; expected are 3."
            )
        }
        let (picture, written, read) = (files.outputs[0], files.outputs[1], files.outputs[2])
        do {
            try TrialPicture.write(to: picture)
            try convert(picture, to: Recipe.Output(format: format, bitDepth: bitDepth), in: written)
            try convert(
                written, to: Recipe.Output(format: .tiff, bitDepth: .eight), in: read)
            try TrialPicture.compare(with: PhotoFile(read).image(failOn: .warning).pixels())
        } catch let failure as Failure {
            throw Failure(.internalError, failure.message)
        } catch {
            throw Failure(.internalError, "\(error)")
        }
    }

    private func convert(
        _ source: OpenFile, to output: Recipe.Output, in target: OpenFile
    ) throws {
        try render(
            PhotoRequest(recipe: Recipe(filters: [], output: output), limits: RenderLimits()),
            RenderFiles(sources: [source], outputs: [target]))
    }
}

/// The picture for the trial: two gradients of light and a plane of blue, which every encoder preserves well.
private enum TrialPicture {
    private static let side = 64
    /// The highest mean difference from the picture, in codes of 255, for a lossy format at the usual quality: at most 3 was
    /// measured.
    private static let differenceMax = 8.0

    private static let codes: [UInt8] = {
        var codes: [UInt8] = []
        for y in 0..<side {
            for x in 0..<side { codes += [UInt8(30 + 3 * x), UInt8(30 + 3 * y), 128] }
        }
        return codes
    }()

    static func write(to file: OpenFile) throws {
        let image = try Image.fromPixels(codes, width: side, height: side, bands: 3)
        try image.encode(
            by: TIFFEncoder(
                EncodedShape(image), TIFFMetadata(profile: nil, xmp: nil), level: nil, to: file))
    }

    /// - Throws: `internalError` if the picture differs.
    static func compare(with found: [UInt8]) throws(Failure) {
        guard found.count == codes.count else {
            throw Failure(
                .internalError,
                "what was read back has \(found.count) bytes of pixels; expected are \(codes.count)."
            )
        }
        let sum = zip(codes, found).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
        let mean = Double(sum) / Double(codes.count)
        guard mean <= differenceMax else {
            throw Failure(
                .internalError,
                "what was read back differs by \(Int(mean.rounded(.up))) codes of 255 in the mean; expected are "
                    + "at most \(Int(differenceMax)).")
        }
    }
}

extension Renderer {
    private static let gap = 12
    private static let quality = 85

    /// Draws small pictures side by side into one JPEG, each with its label below.
    ///
    /// - Throws: `invalidValue` for a sheet that cannot be drawn, and failures of reading, editing or writing.
    public func drawContactSheet(
        _ request: ContactSheetRequest, _ files: RenderFiles
    ) throws(Failure) {
        try Self.check(request, files)
        let spool = files.spool.map(SpoolSpace.init)
        var cells: [Image] = []
        var copy: SmallCopy?
        for cell in request.cells {
            if copy?.source != cell.source {
                copy = try SmallCopy(
                    of: cell, files, side: request.cellSide, request.limits)
            }
            guard let copy else { continue }
            do {
                let picture = try copy.picture(cell.recipe, request, files, spool)
                guard let label = cell.label else {
                    cells.append(picture)
                    continue
                }
                cells.append(try picture.labelled(label, width: request.cellSide))
            } catch {
                throw Failure(reading: error, photo: files.sources[cell.source].name)
            }
        }
        do {
            try Image.grid(cells, across: request.across, gap: Self.gap).writeJPEG(
                to: files.outputs[0].descriptor, quality: Self.quality, chroma: .off,
                progressive: false)
        } catch {
            throw Failure(classifying: error, photo: "the contact sheet")
        }
    }

    private static func check(
        _ request: ContactSheetRequest, _ files: RenderFiles
    ) throws(Failure) {
        let most = ContactSheetRequest.cellsMax
        let sides = ContactSheetRequest.cellSideRange
        guard (1...most).contains(request.cells.count), request.across >= 1,
            sides.contains(request.cellSide)
        else {
            throw Failure(
                .invalidValue,
                "A contact sheet has 1 to \(most) pictures of \(sides.lowerBound) to "
                    + "\(sides.upperBound) pixels; asked for were \(request.cells.count) of "
                    + "\(request.cellSide), \(request.across) in a row.")
        }
        guard files.outputs.count == 1,
            request.cells.allSatisfy({ files.sources.indices.contains($0.source) })
        else {
            throw Failure(
                .internalError,
                "a contact sheet of \(files.sources.count) photos came with \(files.outputs.count) files for "
                    + "it, or names a photo that did not come.")
        }
    }
}

/// A photo shrunk once, for many edits.
private struct SmallCopy {
    let source: Int
    private let file: OpenFile
    private let size: PixelSize
    private let orientation: Int
    private let copy: StandardImage

    init(
        of cell: ContactSheetRequest.Cell, _ files: RenderFiles, side: Int, _ limits: RenderLimits
    ) throws(Failure) {
        source = cell.source
        file = files.sources[source]
        let photo = try PhotoFile(
            file, limits: limits, posterTime: cell.recipe?.output.movie.posterTime ?? 0)
        let header = try photo.header()
        try limits.check(header.storedSize, of: file.name)
        orientation = header.orientation
        size =
            header.storedSize.shrunk(side, of: header.storedSize)
            ?? header.storedSize
        do {
            // Kept, so that only one photo is decoded, and only once.
            copy = try StandardImage(photo.image(failOn: .truncated, copySize: size).inMemory())
        } catch {
            throw Failure(reading: error, photo: file.name)
        }
    }

    /// Returns an edit of the copy, or the copy itself, upright in 8-bit sRGB without metadata.
    func picture(
        _ recipe: Recipe?, _ request: ContactSheetRequest, _ files: RenderFiles,
        _ spool: SpoolSpace?
    ) throws -> Image {
        var image: Image
        if let recipe {
            let opened = try OpenedPhoto(
                PhotoFile(file, limits: request.limits), recipe: recipe, limits: request.limits,
                resources: Resources(files: files.resources))
            image = try Photo(opened, copy: .size(size)).edited(copy, as: .sRGB, spool: spool)
            image = try StandardImage(image.inMemory()).inPlainSRGB()
        } else {
            image = try copy.inPlainSRGB().upright(
                from: orientation, spool: SpoolStorage(space: spool))
        }
        return try image.changing(
            image.fieldNames.filter { $0.contains("-data") }.map { .remove($0) })
    }
}
