import Editing
import Glibc
import JobQueue
import Synchronization
import Worker

/// A line on a terminal with the completed part of a movie and an estimate of the remaining time.
final class MovieProgressLine: Sendable {
    private let start = ContinuousClock.now
    private let isShown = isatty(STDERR_FILENO) == 1
    private let last = Mutex(-1)

    /// Shows the progress.
    func show(_ progress: MovieProgress) {
        let percent = 100 * progress.framesDone / progress.frames
        let isNew = last.withLock { last in
            defer { last = max(last, percent) }
            return percent > last
        }
        guard isShown, isNew, progress.framesDone > 0 else { return }
        let elapsed = (ContinuousClock.now - start) / .seconds(1)
        let rest =
            elapsed * Double(progress.frames - progress.framesDone)
            / Double(progress.framesDone)
        write(
            "\r\(JobProgress(progress)), \(Int(rest.rounded())) s left   "
        )
    }

    /// Clears the line for further output.
    func end() {
        guard isShown, last.withLock({ $0 >= 0 }) else { return }
        write("\r\u{1B}[K")
    }

    private func write(_ text: String) {
        // Standard error is closed, so an error cannot be reported.
        _ = text.withCString { Glibc.write(STDERR_FILENO, $0, strlen($0)) }
    }
}
