public import Adjustments
public import RenderProtocol
import Vips

/// Reads, edits and writes photos, one at a time.
public struct Renderer: Sendable {
    /// Starts libvips, once for the process.
    ///
    /// - Parameter threads: threads that compute pixels; the result is the same for any number.
    /// - Throws: `internalError` when libvips does not start.
    public init(threads: Int = 1, reportsLeaks: Bool = false) throws(Failure) {
        do {
            try VipsLibrary.start(.init(threads: threads, reportsLeaks: reportsLeaks))
        } catch {
            throw Failure(.internalError, "libvips does not start: \(error). Install libvips42.")
        }
    }

    /// Reads a header and plans the render; no pixels.
    public func probe(_ request: ProbeRequest) throws(Failure) -> (PhotoHeader, RenderPlan) {
        let photo = try Photo(
            request.source, recipe: request.recipe, limits: request.limits,
            resource: Resources(folder: request.resources).path(of:))
        return (photo.header, photo.plan)
    }

    /// Renders a photo into the request's folder.
    ///
    /// - Throws: a code of the photo or resource groups. Nothing is left but files in the folder.
    public func render(_ request: PhotoRequest) throws(Failure) -> RenderReport {
        let usage = ProcessUsage()
        let photo = try Photo(
            request.source, recipe: request.recipe, limits: request.limits,
            resource: Resources(folder: request.resources).path(of:))
        let source = try FileDigest.sha256(of: request.source)
        let name = request.stem + "." + photo.plan.format.fileExtension
        let path = request.folder + "/" + name
        let spool = request.folder + "/" + request.stem + ".spool"
        do {
            do {
                try photo.write(to: path, spool: spool, failOn: .warning)
            } catch  where Failure.isHarmless(error) {
                try photo.write(to: path, spool: spool, failOn: .truncated)
            }
        } catch {
            throw Failure(classifying: error, photo: request.source)
        }
        let written = try FileDigest.sha256(of: path)
        TestPoint.afterRender.reach()
        return RenderReport(
            header: photo.header, sourceDigest: source.hex, recipe: photo.recipe,
            plan: photo.plan,
            output: RenderedFile(
                name: name, mediaType: photo.plan.format.mediaType,
                size: photo.outputSize, bytes: written.bytes, digest: written.hex),
            wallMilliseconds: usage.wallMilliseconds, cpuMilliseconds: usage.cpuMilliseconds,
            peakMemoryBytes: usage.peakMemoryBytes)
    }
}
