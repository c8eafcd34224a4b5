import CMinilab
import Codecs
package import Edits
import Files
import FoundationEssentials
import Glibc
public import RenderProtocol
import Sandbox
import Synchronization
import SystemPackage

/// The main loop of a render child: it receives requests and open files over the socket on standard input, and answers on standard
/// output.
///
/// Nothing else is written to standard output; libvips' warnings go to standard error.
public enum RenderChild {
    /// Runs until the socket's other end is closed.
    ///
    /// The worker keeps its end open until it has the answer. If it closes while a photo is being rendered, the worker is dead, and
    /// the process exits at once with ``RenderExit/orphaned``.
    ///
    /// Before it reads a request, the process drops all rights that rendering does not need (``ConfinedProcess``).
    ///
    /// Environment: `VIPS_CONCURRENCY`, the number of threads that compute pixels, 1 by default; `VIPS_TILE_HEIGHT`, the number of
    /// rows that they compute at a time. Neither changes a byte of the result.
    public static func run() -> RenderExit { run(hooks: Hooks()) }

    /// Hooks for a test program at some points of a child's life. The product sets none.
    package struct Hooks: Sendable {
        /// Called before a request is answered.
        package var willAnswer: @Sendable (RenderRequest) -> Void = { _ in }
        /// Called when a photo's render is planned and its limits are set. A returned failure becomes the answer.
        package var willRender: @Sendable (RenderFiles) -> Failure? = { _ in nil }
        /// The speed by which limits of processor time are scaled.
        package var speed = ProcessorSpeed.here

        package init() {}
    }

    /// Runs as ``run()`` does, with hooks.
    package static func run(hooks: Hooks) -> RenderExit {
        minilab_exit_without_memory(RenderExit.outOfMemory.rawValue)
        VipsLibrary.endWithoutMemory(by: RenderExit.outOfMemory.rawValue)
        let prepared = ConfinedProcess.prepare()
        // A closed reader is detected as a write error, below.
        signal(SIGPIPE, SIG_IGN)
        Heap.settle()
        var renderer: Renderer
        do {
            renderer = try Renderer(
                threads: number("VIPS_CONCURRENCY", PhotoRequest.threadsRange) ?? 1,
                tileHeight: number("VIPS_TILE_HEIGHT", tileHeights))
            try renderer.reserveCode()
        } catch {
            ChildAnswers.complain(error.description)
            return .noVips
        }
        let confinement = Confinement(
            gaps: prepared + ConfinedProcess.enter(serial: Int(getpid()), .photos, .ofPhotos))
        Heap.leaveCodeOfStart()
        let watch = OrphanWatch()
        watch.start()
        let decoding = DecodingMark()
        renderer.willDecode = { decoding.set() }
        renderer.willRender = { photo, files throws(Failure) in
            RequestLimits(of: photo, at: hooks.speed).enter()
            if let failure = hooks.willRender(files) { throw failure }
        }
        var requests = RequestReader(DescriptorSocket(adopting: STDIN_FILENO))
        do throws(BadRequest) {
            while let reply = try nextReply(
                &requests, watch, by: renderer, decoding, confinement, hooks)
            {
                guard ChildAnswers.send(reply) else { return .orphaned }
            }
        } catch {
            ChildAnswers.complain(error.description)
            return .badRequest
        }
        return .finished
    }

    /// Waits for a request and returns its reply, or nil at the end. The request's files are closed by then: the worker counts a
    /// file that is still open after the answer as kept.
    private static func nextReply(
        _ requests: inout RequestReader, _ watch: OrphanWatch, by renderer: Renderer,
        _ decoding: DecodingMark, _ confinement: Confinement, _ hooks: Hooks
    ) throws(BadRequest) -> RenderReply? {
        guard let (request, files) = try requests.next() else { return nil }
        return RenderReply(
            to: request.number,
            watch.watching {
                Self.reply(to: request, files, by: renderer, decoding, confinement, hooks)
            })
    }

    private static let tileHeights = 16...1024

    /// Reads an integer from the environment and clamps it to a range; nil if it is not set.
    private static func number(_ name: String, _ range: ClosedRange<Int>) -> Int? {
        getenv(name).flatMap { Int(String(cString: $0)) }
            .map { min(max($0, range.lowerBound), range.upperBound) }
    }

    private static func reply(
        to request: RenderRequest, _ files: RenderFiles, by renderer: Renderer,
        _ decoding: DecodingMark, _ confinement: Confinement, _ hooks: Hooks
    ) -> RenderReply.Content {
        RequestLimits.seal(for: request)
        RequestLimits.beforePlan(of: request, at: hooks.speed).enter()
        hooks.willAnswer(request)
        decoding.clear()
        do throws(Failure) {
            switch request.work {
            case .confinement: return .confined(confinement)
            case .libraries: return .libraries(LibraryVersion.all)
            case .tryFormat(let format, let bitDepth):
                decoding.set()
                try renderer.tryFormat(format, bitDepth, files)
            case .text:
                return .failed(
                    Failure(.internalError, "a render child draws no text. Report this."))
            case .inspect(let photo): return .inspected(try renderer.inspect(photo, files))
            case .render(let photo):
                try renderer.render(photo, files) { done in
                    if case .written = done { TestPoint.afterRender.reach() }
                    // A closed reader is detected when the answer is written.
                    _ = ChildAnswers.send(RenderReply(to: request.number, .progress(done)))
                }
                return .rendered(by: LibraryVersion.all)
            case .contactSheet(let sheet):
                decoding.set()
                try renderer.drawContactSheet(sheet, files)
            }
            return .rendered()
        } catch {
            return decoding.isSet ? .failed(error) : .refused(error)
        }
    }
}

/// A mark of whether a decoder has opened the photo of the current request.
final class DecodingMark: Sendable {
    private let mark = Mutex(false)

    var isSet: Bool { mark.withLock { $0 } }

    /// Clears the mark when another request begins.
    func clear() { mark.withLock { $0 = false } }

    /// Sets the mark when a decoder is about to open the photo.
    func set() { mark.withLock { $0 = true } }
}
