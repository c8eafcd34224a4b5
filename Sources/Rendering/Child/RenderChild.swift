package import Adjustments
import CConfinement
import FoundationEssentials
import Glibc
public import RenderProtocol
import Vips

/// The life of a render child: reads requests from standard input, answers on standard output.
///
/// Nothing else is written to standard output; libvips' warnings go to standard error.
public enum RenderChild {
    /// Runs until standard input ends.
    ///
    /// The worker keeps standard input open until it has the answer: if it closes while a photo is
    /// being rendered, the worker is dead, and the process ends at once with
    /// ``RenderExit/orphaned``.
    ///
    /// Before it reads a request the process gives up all that rendering does not need (``ConfinedProcess``).
    ///
    /// Environment: `VIPS_CONCURRENCY`, threads that compute pixels, 1 unless given; `VIPS_TILE_HEIGHT`,
    /// rows that they compute at a time. Neither changes a byte of the result.
    ///
    /// - Parameter arguments: what it can reach, as ``ReachableFiles`` gives them.
    public static func run(arguments: [String]) -> RenderExit {
        run(arguments: arguments, hooks: Hooks())
    }

    /// What a program of tests does at some moments of a child's life; nothing in the product.
    package struct Hooks: Sendable {
        /// Before a request is answered.
        package var willAnswer: @Sendable (RenderRequest) -> Void = { _ in }
        /// When a photo's render is planned and its limits hold; a failure is the answer.
        package var willRender: @Sendable (PhotoRequest) -> Failure? = { _ in nil }
        /// By which limits of processor time are scaled.
        package var speed = ProcessorSpeed.here

        package init() {}
    }

    /// As ``run(arguments:)``.
    package static func run(arguments: [String], hooks: Hooks) -> RenderExit {
        let reachable: ReachableFiles?
        do {
            reachable = try ReachableFiles(arguments: arguments)
        } catch {
            complain("\(error.text) is no argument; known are --read PATH and --write PATH")
            return .badRequest
        }
        minilab_exit_without_memory(RenderExit.outOfMemory.rawValue)
        VipsLibrary.endWithoutMemory(by: RenderExit.outOfMemory.rawValue)
        let reach = reachable.map(FileReach.paths) ?? .anything
        let prepared = ConfinedProcess.prepare(reach)
        // A reader that has gone is seen as an error of write, below.
        signal(SIGPIPE, SIG_IGN)
        Heap.settle()
        var renderer: Renderer
        do {
            renderer = try Renderer(
                threads: number("VIPS_CONCURRENCY", 1...threadsMax) ?? 1,
                tileHeight: number("VIPS_TILE_HEIGHT", tileHeights))
            try renderer.reserveCode()
        } catch {
            complain(error.description)
            return .noVips
        }
        let confinement = Confinement(
            gaps: prepared + ConfinedProcess.enter(reach, serial: Int(getpid())))
        let watch = OrphanWatch()
        watch.start()
        renderer.willRender = { request, photo throws(Failure) in
            RequestLimits(of: photo, at: hooks.speed).enter()
            if let failure = hooks.willRender(request) { throw failure }
        }
        var lines = LineReader()
        while let line = lines.next() {
            guard case .line(let data) = line else {
                complain("a line is longer than \(LineFormat.lineBytesMax) bytes")
                return .badRequest
            }
            let request: RenderRequest
            do {
                request = try LineFormat.decode(RenderRequest.self, from: data)
            } catch let failure as Failure {
                // A request whose recipe is refused is a request: the worker gets to know why.
                guard answer(.failed(failure)) else { return .orphaned }
                continue
            } catch {
                complain("a line is no request: \(error)")
                return .badRequest
            }
            let reply = watch.watching { Self.reply(to: request, by: renderer, confinement, hooks) }
            guard answer(reply) else { return .orphaned }
        }
        return .finished
    }

    private static let threadsMax = 64

    private static let tileHeights = 16...1024

    /// A whole number of the environment, brought into its range; nil when there is none.
    private static func number(_ name: String, _ range: ClosedRange<Int>) -> Int? {
        getenv(name).flatMap { Int(String(cString: $0)) }
            .map { min(max($0, range.lowerBound), range.upperBound) }
    }

    private static func reply(
        to request: RenderRequest, by renderer: Renderer, _ confinement: Confinement, _ hooks: Hooks
    ) -> RenderReply {
        RequestLimits.beforePlan(of: request, at: hooks.speed).enter()
        hooks.willAnswer(request)
        do throws(Failure) {
            switch request {
            case .confinement: return .confined(confinement)
            case .probe(let request):
                let (header, plan) = try renderer.probe(request)
                return .probed(header: header, plan: plan)
            case .digest(let source):
                return .digested(sha256: try renderer.digest(of: source))
            case .render(let request):
                return .rendered(try renderer.render(request))
            case .contactSheet(let request):
                try renderer.drawContactSheet(request)
                return .drawn
            }
        } catch {
            return .failed(error)
        }
    }

    /// Writes one line; false when nobody reads any more.
    private static func answer(_ reply: RenderReply) -> Bool {
        do {
            let line = try LineFormat.encode(reply)
            return line.withUnsafeBytes { bytes in
                var rest = bytes[...]
                while !rest.isEmpty {
                    let count = write(
                        STDOUT_FILENO, UnsafeRawBufferPointer(rebasing: rest).baseAddress,
                        rest.count)
                    if count < 0, errno == EINTR { continue }
                    guard count > 0 else { return false }
                    rest = rest.dropFirst(count)
                }
                return true
            }
        } catch {
            complain("an answer cannot be encoded: \(error)")
            return false
        }
    }

    private static func complain(_ text: String) {
        let line = "minilab-render: \(text)\n"
        // Nobody is left to tell when standard error is closed too.
        _ = line.withCString { write(STDERR_FILENO, $0, strlen($0)) }
    }
}
