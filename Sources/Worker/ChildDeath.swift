import Adjustments
import Glibc
import RenderProtocol

/// How a render child ended while it owed an answer.
enum ChildDeath: Error, Equatable {
    /// It could not be started.
    case notStarted(String)
    /// It exited by itself, with this code.
    case exited(Int32)
    /// It exited by itself because an allocation failed.
    case outOfMemory
    /// SIGKILL, not by us: by the kernel because memory is short, by somebody else, or nil when the kernel does not
    /// say which.
    case killed(forMemory: Bool?)
    /// It took more processor time than its estimate allows.
    case usedUpProcessor
    /// It wrote a file that is longer than its plan allows.
    case filledDisk
    /// It asked the kernel for what no photo needs: a decoder that was taken over.
    case madeForbiddenCall
    /// We killed it because it answered what cannot be true.
    case untrusted(String)
    /// Another signal killed it that we did not send: a crash.
    case signalled(Int32)
    /// We killed it because the render took too long.
    case timedOut(Duration)
    /// We killed it because nobody wants the answer any more.
    case cancelled
    /// We killed it because another worker may have its job by now.
    case lostLease

    /// What a process ended with.
    ///
    /// - Parameter forMemory: whether the kernel has killed somebody of our control group for want of memory since
    ///   the request began; nil when it does not say.
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

    /// What a process ended with that ended itself.
    init(exitCode: Int32) {
        self = exitCode == RenderExit.outOfMemory.rawValue ? .outOfMemory : .exited(exitCode)
    }

    /// Why a child is ended whose work has ended by an error: one whose result was not believed says so.
    init(ending error: any Error) {
        if let failure = error as? Failure, failure.code == .untrustedRender {
            self = .untrusted(failure.message)
        } else {
            self = .cancelled
        }
    }

    /// Whether nobody waits for an answer.
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

    /// What it means for the job.
    ///
    /// - Parameter lastWords: the end of what the child wrote to its standard error.
    func failure(lastWords: String) -> Failure {
        let words = lastWords.isEmpty ? "" : " Its last words: \(lastWords)"
        return Failure(code, "the render child \(sentence)\(words)", signal: signal)
    }

    private var code: FailureCode {
        switch self {
        case .notStarted, .cancelled, .lostLease: .internalError
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
            "ran out of memory (\(self)): the photo needs much more than its estimate, or the machine has no more. "
                + "The job is tried again, alone."
        case .killed(forMemory: true):
            "was killed by the kernel because memory is short (\(self)). The job is tried again, alone; give the "
                + "worker more memory or fewer slots if it repeats."
        case .killed(forMemory: nil):
            "was killed (\(self)): by the kernel because memory is short, or by somebody. The job is tried again, "
                + "alone; give the worker more memory or fewer slots if it repeats."
        case .killed(forMemory: false):
            "was killed by somebody else (\(self)): not by the worker, and not by the kernel for want of memory. "
                + "The job is tried again."
        case .usedUpProcessor:
            "used more processor time than its photo can need and was ended (\(self)): a decoder that does not come "
                + "to an end. Keep the photo for a report."
        case .filledDisk:
            "wrote a file that is longer than the photo can need and was ended (\(self)). Keep the photo for a report."
        case .madeForbiddenCall:
            "was ended by the kernel for a call that no photo needs (\(self)): the photo may be an attack. Keep it "
                + "for a report, and do not open it elsewhere."
        case .untrusted:
            "is not believed and was ended (\(self)). Nothing of it is used. The photo may be an attack, or worker and "
                + "minilab-render are of different versions; keep the photo for a report."
        case .exited, .signalled:
            "died (\(self)) while it worked on this photo. The job is tried again."
        case .timedOut(let limit):
            "took longer than \(limit) and was killed. The limit is --render-timeout, or less when the photo is "
                + "small; keep the photo for a report if the machine was not overloaded."
        case .cancelled, .lostLease: "was stopped: \(self)."
        }
    }
}

extension ChildDeath: CustomStringConvertible {
    var description: String {
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
