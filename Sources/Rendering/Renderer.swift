public import Edits
import Files
public import RenderProtocol
import Codecs

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
        let photos = try photos(request, files)
        // A preview of a photo that is smaller than the preview is also made from the photo itself.
        let full = request.outputs.firstIndex { $0.longestSide == nil }
        let first = full.map { photos[$0] } ?? photos.first { $0.copySize == nil } ?? photos[0]
        let kept = SmallCopies.bytes(for: photos)
        let shared = SharedDecode(of: photos, memoryMax: request.memoryMax)?.copy.bytes ?? 0
        let needs = photos.map { photo in
            photo.plan.estimate.memoryBytes + (photo.copySize == nil ? shared : kept)
        }
        return Inspection(
            header: first.opened.header, recipe: first.opened.recipe, plan: first.plan,
            memoryBytes: needs.max() ?? 0)
    }

    /// Renders a photo into the outputs of a request, in their order. A full picture that is edited in planes comes first: the
    /// small ones are made from its decode.
    ///
    /// - Parameter progress: receives the progress.
    /// - Throws: a code of the photo or resource groups. The contents of the outputs are then invalid.
    public func render(
        _ request: PhotoRequest, _ files: RenderFiles,
        progress: (RenderReply.Progress) throws(Failure) -> Void = { _ throws(Failure) in }
    ) throws(Failure) {
        let photos = try photos(request, files)
        guard files.outputs.count == photos.count else {
            throw Failure(
                .internalError,
                "a request for \(photos.count) pictures came with \(files.outputs.count) files for them."
            )
        }
        try willRender(photos[0], files)
        let spool = files.spool.map(SpoolSpace.init)
        let shared = SharedDecode(of: photos, memoryMax: request.memoryMax)
        var copies = shared == nil ? try SmallCopies(of: photos) : nil
        let order = (shared.map { [$0.full] } ?? []) + photos.indices.filter { $0 != shared?.full }
        let lastSmall = order.last { photos[$0].copySize != nil }
        for index in order {
            let photo = photos[index]
            try willRender(photo, files)
            if photo.isMovie, let movie = photo.opened.movie {
                try MovieWriter(photo, movie).write(
                    request.outputs[index], to: files.outputs[index], files, progress: progress)
            } else {
                let video = try video(of: photo, scratch: files.outputs[index], progress)
                let copy = index == shared?.full ? shared?.copy : nil
                try write(
                    photo, video, to: files.outputs[index], from: copies, filling: copy,
                    spool: spool)
            }
            if let shared, index == shared.full {
                copies = try SmallCopies(of: photos, from: shared)
            }
            if index == lastSmall { copies = nil }
            try progress(.written(index))
        }
    }

    private func photos(
        _ request: PhotoRequest, _ files: RenderFiles
    ) throws(Failure) -> [Photo] {
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
            resources: Resources(files: files.resources),
            contentIdentifier: request.contentIdentifier)
        var photos: [Photo] = []
        for output in request.outputs {
            photos.append(
                try Photo(
                    opened, format: output.format,
                    copy: output.longestSide.map(Photo.Copy.longestSide),
                    segment: output.segment,
                    memoryMax: request.memoryMax, threads: request.threads))
        }
        return photos
    }

    /// Returns the encoded video that follows a photo; nil if there is none, or if it turns out to be damaged, which is reported.
    private func video(
        of photo: Photo, scratch: OpenFile,
        _ progress: (RenderReply.Progress) throws(Failure) -> Void
    ) throws(Failure) -> AttachedVideo? {
        guard let clip = photo.clip else { return nil }
        do throws(Failure) {
            return try clip.rendered(scratch: scratch)
        } catch  where MotionClip.faults.contains(error.code) {
            try progress(.dropped(error))
            return nil
        }
    }

    private func write(
        _ photo: Photo, _ video: AttachedVideo?, to target: OpenFile, from copies: SmallCopies?,
        filling copy: PlaneCopy?, spool: SpoolSpace?
    ) throws(Failure) {
        let usual = MemoryRoom.ofProcess
        photo.planned.room.apply()
        defer { usual.apply() }
        do {
            try photo.write(
                to: target, from: copies, filling: copy, video: video, spool: spool,
                failOn: .warning)
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
