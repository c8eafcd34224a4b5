import Glibc
import Telemetry
import Operations

/// The progress of a run on standard error: a bar for a person, plain lines for a log.
struct Progress {
    let total: Int
    private(set) var done: Int
    private(set) var failed = 0
    private let started = ContinuousClock.now
    private let doneBefore: Int
    private let isTerminal: Bool
    private var reportedAt: ContinuousClock.Instant?

    /// A better estimate of the remaining time than the rate so far, if there is one.
    private var estimate: Duration?

    /// The shortest interval between lines in a log.
    private static let lineInterval: Duration = .seconds(2)
    private static let barWidth = 30

    /// - Parameter done: the jobs that an earlier run completed.
    init(total: Int, done: Int, isTerminal: Bool = StandardError.isTerminal) {
        self.total = total
        self.done = done
        doneBefore = done
        self.isTerminal = isTerminal
    }

    /// Counts one more job as ended.
    mutating func count(failed isFailure: Bool) {
        if isFailure { failed += 1 } else { done += 1 }
        report()
    }

    /// Sets the number of jobs that have ended.
    ///
    /// - Parameter estimate: the remaining time; nil to derive it from the rate so far.
    mutating func advance(to done: Int, failed: Int = 0, estimate: Duration? = nil) {
        self.done = done
        self.failed = failed
        self.estimate = estimate
        report()
    }

    private var ended: Int { done + failed }

    /// Shows the progress; a log gets a line at the start, at intervals, and at the end.
    mutating func report() {
        let now = ContinuousClock.now
        if isTerminal {
            write("\r\u{1b}[K" + line(after: now - started) + (ended == total ? "\n" : ""))
        } else if ended == total || reportedAt.map({ now - $0 >= Self.lineInterval }) ?? true {
            reportedAt = now
            write(line(after: now - started) + "\n")
        }
    }

    /// Returns the line after an elapsed time. Rate and ETA count the jobs of this run only.
    func line(after elapsed: Duration) -> String {
        let share = total == 0 ? 1 : Double(ended) / Double(total)
        let filled = Int(share * Double(Self.barWidth))
        let bar =
            String(repeating: "█", count: filled)
            + String(repeating: "░", count: Self.barWidth - filled)
        let rate = Double(ended - doneBefore) / max(elapsed / .seconds(1), 0.001)
        let eta =
            estimate.map { Int(($0 / .seconds(1)).rounded(.up)) }
            ?? (rate > 0 ? Int((Double(total - ended) / rate).rounded(.up)) : nil)
        return "\(bar) \(ended)/\(total)" + (failed > 0 ? ", \(failed) failed" : "")
            + (ended > doneBefore ? ", \(decimal(rate))/s" : "")
            + (ended < total ? (eta.map { ", \(clock($0)) left" } ?? "") : ", done")
    }

    private func write(_ text: String) {
        let bytes = Array(text.utf8)
        // Standard error is closed, so an error cannot be reported.
        _ = Glibc.write(STDERR_FILENO, bytes, bytes.count)
    }
}
