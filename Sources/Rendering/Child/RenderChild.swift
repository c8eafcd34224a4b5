import CMinilab
import Codecs
package import Edits
import Files
import FoundationEssentials
import Glibc
public import RenderProtocol
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
            complain(error.description)
            return .noVips
        }
        let confinement = Confinement(
            gaps: prepared + ConfinedProcess.enter(serial: Int(getpid())))
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
                guard answer(reply) else { return .orphaned }
            }
        } catch {
            complain(error.description)
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
            case .inspect(let photo): return .inspected(try renderer.inspect(photo, files))
            case .render(let photo):
                try renderer.render(photo, files) { done in
                    if case .written = done { TestPoint.afterRender.reach() }
                    // A closed reader is detected when the answer is written.
                    _ = answer(RenderReply(to: request.number, .progress(done)))
                }
            case .contactSheet(let sheet):
                decoding.set()
                try renderer.drawContactSheet(sheet, files)
            }
            return .rendered
        } catch {
            return decoding.isSet ? .failed(error) : .refused(error)
        }
    }

    /// Writes one line. Returns false if the reader has closed its end.
    private static func answer(_ reply: RenderReply) -> Bool {
        do {
            try Descriptor.write(STDOUT_FILENO, Array(LineFormat.encode(reply)))
            return true
        } catch is Errno {
            return false
        } catch {
            complain("an answer cannot be encoded: \(error)")
            return false
        }
    }

    private static func complain(_ text: String) {
        let line = "minilab-render: \(text)\n"
        // If standard error is closed too, no reader is left.
        _ = line.withCString { write(STDERR_FILENO, $0, strlen($0)) }
    }
}

/// Splits a child's socket into requests, each with its files.
struct RequestReader {
    private let socket: DescriptorSocket
    private var buffer = Data()
    /// Received descriptors that belong to no request yet.
    private var descriptors: [Int32] = []
    private var hasEnded = false
    private static let readBytes = 65_536

    init(_ socket: DescriptorSocket) { self.socket = socket }

    /// Waits for the next request and returns it, or nil at the end.
    ///
    /// - Throws: ``BadRequest`` if worker and child have different versions.
    mutating func next() throws(BadRequest) -> (RenderRequest, RenderFiles)? {
        guard let line = try line() else { return nil }
        do {
            let request = try LineFormat.decode(RenderRequest.self, from: line)
            guard request.version == RenderRequest.version else {
                throw BadRequest(
                    "a request is of version \(request.version); this child speaks version "
                        + "\(RenderRequest.version)")
            }
            let count = min(request.files.count, descriptors.count)
            defer { descriptors.removeFirst(count) }
            return (request, try RenderFiles(request.files, Array(descriptors[..<count])))
        } catch let bad as BadRequest {
            throw bad
        } catch {
            throw BadRequest("a line is no request: \(error)")
        }
    }

    private mutating func line() throws(BadRequest) -> Data? {
        var searched = 0
        while true {
            let start = buffer.startIndex + searched
            if let newline = buffer[start...].firstIndex(of: UInt8(ascii: "\n")) {
                let line = Data(buffer[..<newline])
                buffer = Data(buffer[(newline + 1)...])
                return line
            }
            searched = buffer.count
            guard buffer.count <= LineFormat.lineBytesMax else {
                throw BadRequest("a line is longer than \(LineFormat.lineBytesMax) bytes")
            }
            if hasEnded { return nil }
            do {
                let (bytes, files) = try socket.receive(bytesMax: Self.readBytes)
                hasEnded = bytes.isEmpty
                buffer.append(contentsOf: bytes)
                descriptors += files
            } catch {
                throw BadRequest(error.message)
            }
        }
    }
}

/// A request that cannot come from a worker of this version.
struct BadRequest: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
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

/// Ends the process if the worker dies while a photo is being rendered.
///
/// A killed worker cannot notify its children, but the kernel closes its end of the child's standard input. A thread waits for that
/// (`POLLHUP`), so the check works at any moment, also deep in an encoder.
final class OrphanWatch: Sendable {
    private struct State {
        var isBusy = false
        var isOrphan = false
    }
    private let state = Mutex(State())

    /// Starts the thread, which lives as long as the process.
    func start() {
        let box = Unmanaged.passRetained(self)
        var thread = pthread_t()
        let result = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                Unmanaged<OrphanWatch>.fromOpaque(context).takeRetainedValue().wait()
                return nil
            }, box.toOpaque())
        // Without the thread, a render for a dead worker only runs to its end.
        guard result == 0 else {
            box.release()
            return
        }
        pthread_detach(thread)
    }

    private func wait() {
        var descriptor = pollfd(fd: STDIN_FILENO, events: 0, revents: 0)
        do throws(Errno) {
            try Descriptor.uninterrupted { poll(&descriptor, 1, -1) }
        } catch {
            return  // the same as without the thread
        }
        guard descriptor.revents & Int16(POLLHUP) != 0 else { return }
        let isBusy = state.withLock { state in
            state.isOrphan = true
            return state.isBusy
        }
        if isBusy { _exit(RenderExit.orphaned.rawValue) }
    }

    /// Runs the work of one request. Does not return if the worker dies.
    func watching<Result>(_ work: () -> Result) -> Result {
        let isOrphan = state.withLock { state in
            state.isBusy = true
            return state.isOrphan
        }
        if isOrphan { _exit(RenderExit.orphaned.rawValue) }
        defer { state.withLock { $0.isBusy = false } }
        return work()
    }
}

/// The process's resource usage, as the kernel counts it for its limits.
enum ProcessUsage {
    /// The current memory that counts for RLIMIT_DATA, in bytes; nil if the kernel does not report it.
    static var dataBytes: Int? { status?.bytes("VmData") }

    /// The processor time that the kernel counts for RLIMIT_CPU, in seconds.
    ///
    /// After minutes of work it may differ from getrusage(2) by seconds. On kernels that count ticks (CONFIG_TICK_CPU_ACCOUNTING),
    /// the limit is compared with the ticks (check_process_timers in kernel/time/posix-cpu-timers.c), while getrusage uses the
    /// scheduler's clock. A warm child was killed for a header that it read in milliseconds.
    static var limitedSeconds: Double {
        // CPUCLOCK_PROF of the calling process: (~0 << 3) | 0, in the encoding of clock_getcpuclockid(3).
        let clock: clockid_t = -8
        var time = timespec()
        guard clock_gettime(clock, &time) == 0 else { return 0 }
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Opens the kernel's status file of the process and keeps it open: a confined process cannot open it any more.
    static func openFiles() { _ = status }

    private static let status = ProcessStatus("self")
}
