import Glibc
import JobQueue
import Synchronization
import Worker

/// One line on a terminal that says how much of a movie is done, and how long the rest is likely to take.
final class MovieProgressLine: Sendable {
    private let start = ContinuousClock.now
    private let isShown = isatty(STDERR_FILENO) == 1
    private let last = Mutex(-1)

    /// Shows how much is done.
    func show(_ progress: JobProgress) {
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
            "\r\(progress), \(Int(rest.rounded())) s left   "
        )
    }

    /// Leaves the line empty for what follows.
    func end() {
        guard isShown, last.withLock({ $0 >= 0 }) else { return }
        write("\r\u{1B}[K")
    }

    private func write(_ text: String) {
        // Nobody is left to tell when standard error is closed.
        _ = text.withCString { Glibc.write(STDERR_FILENO, $0, strlen($0)) }
    }
}
