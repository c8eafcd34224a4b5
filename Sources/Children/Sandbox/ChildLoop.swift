import Edits
package import Files
import FoundationEssentials
import Glibc
package import RenderProtocol
import Synchronization
import SystemPackage

/// The lines that a child writes.
package enum ChildAnswers {
    /// Writes one line. Returns false if the reader has closed its end.
    package static func send(_ reply: RenderReply) -> Bool {
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

    package static func complain(_ text: String) {
        let line = "minilab-render: \(text)\n"
        // If standard error is closed too, no reader is left.
        _ = line.withCString { write(STDERR_FILENO, $0, strlen($0)) }
    }
}

/// Splits a child's socket into requests, each with its files.
package struct RequestReader {
    private let socket: DescriptorSocket
    private var buffer = Data()
    /// Received descriptors that belong to no request yet.
    private var descriptors: [Int32] = []
    private var hasEnded = false
    private static let readBytes = 65_536

    package init(_ socket: DescriptorSocket) { self.socket = socket }

    /// Waits for the next request and returns it, or nil at the end.
    ///
    /// - Throws: ``BadRequest`` if worker and child have different versions.
    package mutating func next() throws(BadRequest) -> (RenderRequest, RenderFiles)? {
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
package struct BadRequest: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}

/// Ends the process if the worker dies while a photo is being rendered.
///
/// A killed worker cannot notify its children, but the kernel closes its end of the child's standard input. A thread waits for that
/// (`POLLHUP`), so the check works at any moment, also deep in an encoder.
package final class OrphanWatch: Sendable {
    private struct State {
        var isBusy = false
        var isOrphan = false
    }
    private let state = Mutex(State())

    package init() {}

    /// Starts the thread, which lives as long as the process.
    package func start() {
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
    package func watching<Result>(_ work: () -> Result) -> Result {
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
package enum ProcessUsage {
    /// The current memory that counts for RLIMIT_DATA, in bytes; nil if the kernel does not report it.
    package static var dataBytes: Int? { status?.bytes("VmData") }
    /// The current address space, which counts for RLIMIT_AS, in bytes; nil if the kernel does not report it.
    package static var addressBytes: Int? { status?.bytes("VmSize") }

    /// The processor time that the kernel counts for RLIMIT_CPU, in seconds.
    ///
    /// After minutes of work it may differ from getrusage(2) by seconds. On kernels that count ticks (CONFIG_TICK_CPU_ACCOUNTING),
    /// the limit is compared with the ticks (check_process_timers in kernel/time/posix-cpu-timers.c), while getrusage uses the
    /// scheduler's clock. A warm child was killed for a header that it read in milliseconds.
    package static var limitedSeconds: Double {
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
