public import Adjustments
import FileBytes
public import RenderProtocol
import Vips

/// Reads, edits and writes photos, one at a time.
public struct Renderer: Sendable {
    private let sources = SourceDigests()
    /// What the process does when it knows what is to be rendered, before pixels are.
    var willRender: @Sendable (PhotoRequest, Photo) throws(Failure) -> Void = {
        _, _ throws(Failure) in
    }

    /// Starts libvips, once for the process.
    ///
    /// - Parameters:
    ///   - threads: threads that compute pixels; the result is the same for any number.
    ///   - tileHeight: rows that are computed at a time, or nil for the usual; likewise.
    /// - Throws: `internalError` when libvips does not start.
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

    /// Has all code in memory that libraries compile as they run; no more can be mapped once the process is confined.
    ///
    /// - Throws: `internalError` when libvips cannot.
    package func reserveCode() throws(Failure) {
        do {
            try VipsLibrary.reserveVectorCode()
        } catch {
            throw Failure(.internalError, "libvips cannot prepare to shrink pictures: \(error)")
        }
    }

    /// Reads a header and plans the render; no pixels.
    public func probe(_ request: ProbeRequest) throws(Failure) -> (PhotoHeader, RenderPlan) {
        let photo = try Photo(
            request.source, recipe: request.recipe, limits: request.limits,
            copy: request.longestSide.map(Photo.Copy.longestSide), memoryMax: request.memoryMax,
            resource: Resources(folder: request.resources).path(of:))
        return (photo.header, photo.plan)
    }

    /// SHA-256 of a photo's bytes, in hex; a render that follows does not read them for it again.
    public func digest(of source: String) throws(Failure) -> String {
        try sources.sha256(of: source)
    }

    /// Renders a photo into the request's folder.
    ///
    /// - Throws: a code of the photo or resource groups; `ioFailure` when the photo is another one after the render
    ///   than before. Nothing is left but files in the folder.
    public func render(_ request: PhotoRequest) throws(Failure) -> RenderReport {
        let usage = ProcessUsage()
        let photo = try Photo(
            request.source, recipe: request.recipe, limits: request.limits,
            copy: request.longestSide.map(Photo.Copy.longestSide), memoryMax: request.memoryMax,
            resource: Resources(folder: request.resources).path(of:))
        try willRender(request, photo)
        let source = try sources.sha256(of: request.source)
        let name = request.stem + "." + photo.plan.output.format.fileExtension
        let path = request.folder + "/" + name
        try write(photo, to: path, folder: request.folder)
        try Self.check(path, against: photo.plan)
        try sources.checkUnchanged(request.source)
        let written = try FileDigest.sha256(of: path)
        TestPoint.afterRender.reach()
        return RenderReport(
            header: photo.header, sourceDigest: source, recipe: photo.recipe,
            plan: photo.plan,
            output: RenderedFile(
                name: name, mediaType: photo.plan.output.format.mediaType,
                size: photo.plan.resultSize, bytes: written.bytes, digest: written.hex),
            wallMilliseconds: usage.wallMilliseconds, cpuMilliseconds: usage.cpuMilliseconds,
            peakMemoryBytes: usage.peakMemoryBytes)
    }

    /// Reads back the header of what was written: whatever went wrong in between, a picture of another size
    /// is never passed off as the result.
    static func check(_ path: String, against plan: RenderPlan) throws(Failure) {
        let size = try PhotoFile(at: path, limits: nil).header().uprightSize
        guard size == plan.resultSize else {
            throw Failure(
                .internalError,
                "the render is \(size) pixels where \(plan.resultSize) were planned; it is not published. "
                    + "Report this with the edit and the photo.")
        }
    }

    private func write(_ photo: Photo, to path: String, folder: String) throws(Failure) {
        let usual = MemoryRoom.ofProcess
        photo.planned.room.apply()
        defer { usual.apply() }
        do {
            do {
                try photo.write(to: path, folder: folder, failOn: .warning)
            } catch .vips(let error) where Failure.isHarmless(error) {
                try photo.write(to: path, folder: folder, failOn: .truncated)
            }
        } catch {
            switch error {
            case .vips(let error): throw Failure(classifying: error, photo: photo.file.path)
            case .failure(let failure): throw failure
            }
        }
    }
}
