import Edits
import Files
import Glibc
import RenderProtocol
import SystemPackage

/// How a render child ended.
public enum ChildDeath: Error, Equatable {
    case notStarted(String)
    /// The child exited by itself, with this code; 0 if it was asked to end.
    case exited(Int32)
    /// The child exited by itself because an allocation failed.
    case outOfMemory
    /// SIGKILL that the worker did not send. `true`: the kernel sent it because memory is short; `false`: another
    /// process sent it; nil: the kernel's files do not tell.
    case killed(forMemory: Bool?)
    /// The child used more processor time than its estimate allows.
    case usedUpProcessor
    /// The child wrote a file that is longer than its plan allows.
    case filledDisk
    /// The child made a system call that no render needs: its decoder was taken over.
    case madeForbiddenCall
    /// The worker killed the child because its reply was impossible.
    case untrusted(String)
    /// A crash: the child was killed by another signal that the worker did not send.
    case signalled(Int32)
    /// The worker killed the child because the render took too long.
    case timedOut(Duration)
    /// The worker killed the child because its answer is no longer needed.
    case cancelled
    /// The worker killed the child because another worker may hold the job by now.
    case lostLease

    /// Classifies the death of a process that was ended by a signal.
    ///
    /// - Parameter forMemory: whether the kernel has killed a process of the worker's control group for lack of
    ///   memory since the request began; nil if the kernel's files do not tell.
    init(signal: Int32, forMemory: Bool?) {
        self =
            switch signal {
            case SIGKILL: .killed(forMemory: forMemory)
            case SIGXCPU: .usedUpProcessor
            case SIGXFSZ: .filledDisk
            case SIGSYS: .madeForbiddenCall
            default: .signalled(signal)
            }
    }

    /// Classifies the death of a process that exited by itself.
    init(exitCode: Int32) {
        self = exitCode == RenderExit.outOfMemory.rawValue ? .outOfMemory : .exited(exitCode)
    }

    /// Creates the reason for ending a child after its work failed. It is `untrusted` if the worker rejected the
    /// child's result.
    init(ending error: any Error) {
        if let failure = error as? Failure, failure.code == .untrustedRender {
            self = .untrusted(failure.message)
        } else {
            self = .cancelled
        }
    }

    /// Whether the worker ended the child because its answer is no longer needed.
    var isOurWish: Bool { self == .cancelled || self == .lostLease }

    private var signal: Int? {
        switch self {
        case .killed: Int(SIGKILL)
        case .usedUpProcessor: Int(SIGXCPU)
        case .filledDisk: Int(SIGXFSZ)
        case .madeForbiddenCall: Int(SIGSYS)
        case .signalled(let signal): Int(signal)
        case .notStarted, .exited, .outOfMemory, .untrusted, .timedOut, .cancelled, .lostLease: nil
        }
    }

    /// Returns the failure of the job that this death causes.
    ///
    /// - Parameter lastOutput: the end of the child's standard error.
    func failure(lastOutput: String) -> Failure {
        let output = lastOutput.isEmpty ? "" : " Its last output: \(lastOutput)"
        return Failure(code, "the render child \(sentence)\(output)", signal: signal)
    }

    private var code: FailureCode {
        switch self {
        case .notStarted: .rendererUnavailable
        case .cancelled, .lostLease: .internalError
        case .outOfMemory, .killed(forMemory: true), .killed(forMemory: nil): .outOfMemory
        case .usedUpProcessor, .timedOut: .renderTimedOut
        case .filledDisk: .noSpace
        case .untrusted: .untrustedRender
        case .exited, .killed(forMemory: false), .madeForbiddenCall, .signalled: .renderCrashed
        }
    }

    private var sentence: String {
        switch self {
        case .notStarted(let reason):
            "could not be started: \(reason). Is minilab-render installed beside minilab?"
        case .outOfMemory:
            "ran out of memory (\(self)): the photo needs much more than its estimate, or the machine has no more."
        case .killed(forMemory: true):
            "was killed by the kernel because memory is short (\(self)). Give the worker more memory or fewer "
                + "slots if it repeats."
        case .killed(forMemory: nil):
            "was killed (\(self)): by the kernel because memory is short, or by another process. Give the worker more "
                + "memory or fewer slots if it repeats."
        case .killed(forMemory: false):
            "was killed by another process (\(self)): not by the worker, and not by the kernel because memory is "
                + "short."
        case .usedUpProcessor:
            "used more processor time than its photo can need and was ended (\(self)): a decoder that does not come "
                + "to an end. Keep the photo for a report."
        case .filledDisk:
            "wrote a file that is longer than the photo can need and was ended (\(self)). Keep the photo for a report."
        case .madeForbiddenCall:
            "was ended by the kernel for a call that no photo needs (\(self)): the photo may be an attack. Keep it "
                + "for a report, and do not open it elsewhere."
        case .untrusted:
            "is not trusted and was ended (\(self)). None of its results is used. The photo may be an attack, or "
                + "worker and "
                + "minilab-render are of different versions; keep the photo for a report."
        case .exited, .signalled:
            // Of a format that is tried at the worker's start, too, where there is no photo.
            "died (\(self)) at its work."
        case .timedOut(let limit):
            "took longer than \(limit) and was killed. The limit is --render-timeout, or less when the photo is "
                + "small; keep the photo for a report if the machine was not overloaded."
        case .cancelled, .lostLease: "was stopped: \(self)."
        }
    }
}

extension ChildDeath {
    /// The cause in an operator's terms, for metrics: `finished`, `exit_70`, `SIGSEGV`.
    package var cause: String {
        switch self {
        case .exited(0): "finished"
        case .exited(let code): "exit_\(code)"
        case .outOfMemory: "out_of_memory"
        case .killed(forMemory: true): "oom_killed"
        case .killed(forMemory: false): "killed"
        case .killed(forMemory: nil): "killed_or_oom"
        case .usedUpProcessor: "cpu_limit"
        case .filledDisk: "file_limit"
        case .madeForbiddenCall: "forbidden_call"
        case .untrusted: "untrusted"
        case .signalled(let signal): Self.signals[signal] ?? "signal_\(signal)"
        case .timedOut: "timed_out"
        case .cancelled: "cancelled"
        case .lostLease: "lost_lease"
        case .notStarted: "not_started"
        }
    }

    private static let signals = [
        SIGABRT: "SIGABRT", SIGBUS: "SIGBUS", SIGFPE: "SIGFPE", SIGILL: "SIGILL",
        SIGKILL: "SIGKILL", SIGSEGV: "SIGSEGV", SIGSYS: "SIGSYS", SIGTERM: "SIGTERM",
        SIGTRAP: "SIGTRAP", SIGXCPU: "SIGXCPU",
    ]
}

extension ChildDeath: CustomStringConvertible {
    public var description: String {
        switch self {
        case .notStarted(let reason): "not started: \(reason)"
        case .exited(let code): "exit code \(code)"
        case .outOfMemory: "exit code \(RenderExit.outOfMemory.rawValue)"
        case .killed, .usedUpProcessor, .filledDisk, .madeForbiddenCall, .signalled:
            signal.map { "signal \($0), \(String(cString: strsignal(Int32($0))))" } ?? "a signal"
        case .untrusted(let reason): reason
        case .timedOut(let limit): "killed after \(limit)"
        case .cancelled: "killed on request"
        case .lostLease: "killed since its lease was lost"
        }
    }
}

/// The threads and files that a child holds although no render needs them, as the kernel reports them. A photo has taken over a
/// child that holds such a thing, and the child is ended.
enum ChildExcess {
    /// Returns a sentence if a child has more threads than any render has.
    ///
    /// - Parameter status: opened at the child's start. The kernel answers a read of it as long as the child lives, also when
    ///   the worker has no free descriptor, so no answer means that the child has ended.
    static func threads(_ status: ProcessStatus) -> String? {
        guard let count = status.count("Threads"), count > Confinement.threadsMax else {
            return nil
        }
        return "it has \(count) threads; a render has at most \(Confinement.threadsMax)"
    }

    /// Returns a sentence if a child that has answered a request still has one of its files open, or if its open files cannot
    /// be listed. Such a file takes room on the disk, and can grow, as long as the child lives.
    static func files(
        of pid: pid_t, among files: [OpenFile],
        list: (FilePath) throws(Failure) -> [String] = { path throws(Failure) in
            try FileSystem().list(path)
        }
    ) -> String? {
        let folder = FilePath("/proc/\(pid)/fd")
        // The kernel shows them only to a worker that may trace the child.
        guard access(folder.string, R_OK | X_OK) == 0 else { return nil }
        let handed = Set(files.compactMap { FileIdentity($0.descriptor) })
        do throws(Failure) {
            let kept = try list(folder).compactMap { FileIdentity(folder.appending($0).string) }
                .count { handed.contains($0) }
            return kept == 0
                ? nil : "it kept \(kept) of the files of a request that it has answered"
        } catch {
            return "its open files cannot be listed: \(error.message)"
        }
    }
}

/// The memory of a child that no file has, and that of files in memory, which its limits count.
struct ChildMemory {
    let bytes: Int

    /// Reads it; nil if the process has ended or the kernel does not report it.
    init?(_ status: ProcessStatus) {
        guard let anonymous = status.bytes("RssAnon") else { return nil }
        bytes = anonymous + (status.bytes("RssShmem") ?? 0)
    }
}

/// A file, whatever its names and descriptors.
private struct FileIdentity: Hashable {
    let device: UInt
    let inode: UInt

    /// The file of a descriptor of this process.
    init?(_ descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    /// The file at the end of a link.
    init?(_ link: String) {
        var status = stat()
        guard stat(link, &status) == 0 else { return nil }
        self.init(status)
    }

    private init(_ status: stat) {
        (device, inode) = (UInt(status.st_dev), UInt(status.st_ino))
    }
}
