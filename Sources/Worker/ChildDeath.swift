import Adjustments
import Glibc
import RenderProtocol

/// How a render child ended while it owed an answer.
enum ChildDeath: Error, Equatable {
    /// It could not be started.
    case notStarted(String)
    /// It exited by itself, with this code.
    case exited(Int32)
    /// A signal killed it that we did not send.
    case signalled(Int32)
    /// We killed it because the render took too long.
    case timedOut(Duration)
    /// We killed it because nobody wants the answer any more.
    case cancelled

    private var signal: Int? { if case .signalled(let signal) = self { Int(signal) } else { nil } }

    /// What it means for the job.
    ///
    /// - Parameter lastWords: the end of what the child wrote to its standard error.
    func failure(lastWords: String) -> Failure {
        let words = lastWords.isEmpty ? "" : " Its last words: \(lastWords)"
        switch self {
        case .notStarted(let reason):
            return Failure(
                .internalError,
                "the render child could not be started: \(reason). Is minilab-render installed "
                    + "beside minilab?")
        case .exited(RenderExit.outOfMemory.rawValue), .signalled(SIGKILL):
            return Failure(
                .outOfMemory,
                "the render child ran out of memory, or the kernel or an operator killed it "
                    + "(\(self)). The job is tried again; give the worker more memory or fewer "
                    + "slots if it repeats.\(words)", signal: signal)
        case .exited, .signalled:
            return Failure(
                .renderCrashed,
                "the render child died (\(self)) while it worked on this photo. The job is tried "
                    + "again.\(words)", signal: signal)
        case .timedOut(let limit):
            return Failure(
                .renderTimedOut,
                "the render took longer than \(limit) and was killed. Raise --render-timeout if "
                    + "the photo is worth it.")
        case .cancelled:
            return Failure(.internalError, "the render was cancelled.")
        }
    }
}

extension ChildDeath: CustomStringConvertible {
    var description: String {
        switch self {
        case .notStarted(let reason): "not started: \(reason)"
        case .exited(let code): "exit code \(code)"
        case .signalled(let signal): "signal \(signal), \(String(cString: strsignal(signal)))"
        case .timedOut(let limit): "killed after \(limit)"
        case .cancelled: "killed on request"
        }
    }
}
