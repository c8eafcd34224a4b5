import Glibc
import Telemetry
import Operations

/// How far a run is, told on standard error: a bar for a person, plain lines for a log.
struct Progress {
    let total: Int
    private(set) var done: Int
    private(set) var failed = 0
    private let started = ContinuousClock.now
    private let doneBefore: Int
    private let isTerminal: Bool
    private var toldAt: ContinuousClock.Instant?

    /// How long the rest takes, if somebody knows better than by the rate so far.
    private var estimate: Duration?

    /// How often a log gets a line at most.
    private static let lineInterval: Duration = .seconds(2)
    private static let barWidth = 30

    /// - Parameter done: jobs that an earlier run did.
    init(total: Int, done: Int, isTerminal: Bool = StandardError.isTerminal) {
        self.total = total
        self.done = done
        doneBefore = done
        self.isTerminal = isTerminal
    }

    /// One more job has ended.
    mutating func count(failed isFailure: Bool) {
        if isFailure { failed += 1 } else { done += 1 }
        tell()
    }

    /// So many have ended by now.
    ///
    /// - Parameter estimate: how long the rest takes; nil to tell by the rate so far.
    mutating func advance(to done: Int, failed: Int = 0, estimate: Duration? = nil) {
        self.done = done
        self.failed = failed
        self.estimate = estimate
        tell()
    }

    private var ended: Int { done + failed }

    /// Shows it; a log hears of it at the start, now and then, and at the end.
    mutating func tell() {
        let now = ContinuousClock.now
        if isTerminal {
            write("\r\u{1b}[K" + line(after: now - started) + (ended == total ? "\n" : ""))
        } else if ended == total || toldAt.map({ now - $0 >= Self.lineInterval }) ?? true {
            toldAt = now
            write(line(after: now - started) + "\n")
        }
    }

    /// The line after a time; rate and ETA count what this run has done.
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
        // Nobody could be told that standard error is gone.
        _ = Glibc.write(STDERR_FILENO, bytes, bytes.count)
    }
}
