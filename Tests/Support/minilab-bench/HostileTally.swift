import Edits
import Glibc
import RenderPool
import Synchronization
import Worker

/// The counts of the outcomes of hostile files.
final class HostileTally: Sendable {
    /// The outcome of one file.
    struct End: Sendable {
        /// ``picture``, ``late``, a failure code, or the event that replaced an answer.
        let outcome: String
        let duration: Duration
        /// The child's peak memory while it made a picture, in bytes.
        var peak = 0

        /// Whether the outcome is forbidden: an internal fault, an invalid answer, a wait without end, or no answer.
        var isBad: Bool {
            outcome != HostileTally.picture
                && FailureCode(rawValue: outcome).map {
                    $0 == .internalError || $0 == .untrustedRender
                } ?? true
        }

        /// Whether the file killed a child.
        var isDeadly: Bool {
            let codes: [FailureCode] = [.renderTimedOut, .renderCrashed, .outOfMemory]
            return codes.map(\.rawValue).contains(outcome)
        }

        /// The outcome as one line.
        var text: String { "\(outcome)\t\(duration.milliseconds) ms" }
    }

    static let picture = "a picture"
    static let late = "later than its limits"

    private struct Counts {
        var outcomes: [String: Int] = [:]
        var children: [String: Int] = [:]
        var bad: [String] = []
        var begun = 0
        var slowest = (name: "", duration: Duration.zero)
        var largest = (name: "", peak: 0)
    }

    private let counts = Mutex(Counts())
    /// The most file names that are listed.
    private static let namesMax = 20

    /// Returns the number of the next file, from 0; nil if none is left.
    func nextNumber(below total: Int) -> Int? {
        counts.withLock { counts in
            guard counts.begun < total else { return nil }
            counts.begun += 1
            return counts.begun - 1
        }
    }

    func add(_ name: String, _ end: End) {
        counts.withLock { counts in
            counts.outcomes[end.outcome, default: 0] += 1
            if end.duration > counts.slowest.duration { counts.slowest = (name, end.duration) }
            if end.peak > counts.largest.peak { counts.largest = (name, end.peak) }
            if end.isBad, counts.bad.count < Self.namesMax {
                counts.bad.append("\(name): \(end.outcome)")
            }
        }
    }

    /// - Parameter cause: as the metric `minilab_child_ends_total` names it.
    func childEnded(_ cause: String) {
        counts.withLock { $0.children[cause, default: 0] += 1 }
    }

    /// Whether any outcome was forbidden.
    var isBad: Bool { counts.withLock { !$0.bad.isEmpty } }

    /// Returns the counts as a table in Markdown.
    func page(_ files: Int) -> String {
        counts.withLock { counts in
            func rows(_ numbers: [String: Int]) -> [String] {
                numbers.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
                    .map { "| \($0.key) | \($0.value) |" }
            }
            return
                (["| \(files) files ended as | |", "|---|---:|"] + rows(counts.outcomes)
                + ["", "| children ended | |", "|---|---:|"] + rows(counts.children)
                + [
                    "",
                    "Slowest: \(counts.slowest.duration.milliseconds) ms, \(counts.slowest.name). Most memory of a "
                        + "child: \(Self.peakMegabytes) MB; of one that made a picture: "
                        + "\(counts.largest.peak / 1_000_000) MB, \(counts.largest.name).",
                ] + counts.bad.map { "BAD: \($0)" }).joined(separator: "\n")
        }
    }

    /// The peak memory of all child processes that this one has waited for, in units of 1,000,000 bytes.
    private static var peakMegabytes: Int {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_CHILDREN.rawValue), &usage)
        return usage.ru_maxrss * 1_024 / 1_000_000
    }
}

extension Duration {
    fileprivate var milliseconds: Int { Int(self / .milliseconds(1)) }
}
