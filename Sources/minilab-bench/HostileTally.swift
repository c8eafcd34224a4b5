import Adjustments
import Glibc
import Synchronization
import Worker

/// How files ended that nobody should send, counted.
final class HostileTally: Sendable {
    /// The end of one file.
    struct End: Sendable {
        /// ``picture``, ``late``, a code, or what happened instead of an answer.
        let outcome: String
        let took: Duration
        /// Most memory of the child while it made a picture, in bytes.
        var peak = 0

        /// Whether it is what must never be: a fault of ours, an answer that is not believed, a wait without end, no answer.
        var isBad: Bool {
            outcome != HostileTally.picture
                && FailureCode(rawValue: outcome).map {
                    $0 == .internalError || $0 == .untrustedRender
                } ?? true
        }

        /// Whether it cost a child its life.
        var isDeadly: Bool {
            let codes: [FailureCode] = [.renderTimedOut, .renderCrashed, .outOfMemory]
            return codes.map(\.rawValue).contains(outcome)
        }

        /// One line.
        var words: String { "\(outcome)\t\(took.milliseconds) ms" }
    }

    static let picture = "a picture"
    static let late = "later than its limits"

    private struct Counts {
        var outcomes: [String: Int] = [:]
        var children: [String: Int] = [:]
        var bad: [String] = []
        var begun = 0
        var slowest = (name: "", took: Duration.zero)
        var largest = (name: "", peak: 0)
    }

    private let counts = Mutex(Counts())
    /// Names of files that are listed at most.
    private static let namesMax = 20

    /// The number of the next file, from 0; nil when all are taken.
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
            if end.took > counts.slowest.took { counts.slowest = (name, end.took) }
            if end.peak > counts.largest.peak { counts.largest = (name, end.peak) }
            if end.isBad, counts.bad.count < Self.namesMax {
                counts.bad.append("\(name): \(end.outcome)")
            }
        }
    }

    func childEnded(_ end: WorkerEvent.ChildEnd) {
        counts.withLock { $0.children[end.words, default: 0] += 1 }
    }

    /// Whether something ended as nothing may.
    var isBad: Bool { counts.withLock { !$0.bad.isEmpty } }

    /// A table in Markdown.
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
                    "Slowest: \(counts.slowest.took.milliseconds) ms, \(counts.slowest.name). Most memory of a "
                        + "child: \(Self.peakMegabytes) MB; of one that made a picture: "
                        + "\(counts.largest.peak / 1_000_000) MB, \(counts.largest.name).",
                ] + counts.bad.map { "BAD: \($0)" }).joined(separator: "\n")
        }
    }

    /// Of all processes that this one has waited for, in units of 1,000,000.
    private static var peakMegabytes: Int {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_CHILDREN.rawValue), &usage)
        return usage.ru_maxrss * 1_024 / 1_000_000
    }
}

extension Duration {
    fileprivate var milliseconds: Int { Int(self / .milliseconds(1)) }
}

extension WorkerEvent.ChildEnd {
    /// For people.
    fileprivate var words: String {
        switch self {
        case .exited(0): "as they were told to"
        case .exited(let code): "with exit code \(code)"
        case .outOfMemory: "out of memory"
        case .killed: "killed by the kernel or somebody"
        case .usedUpProcessor: "after too much processor time"
        case .filledDisk: "after too long a file"
        case .madeForbiddenCall: "after a forbidden call"
        case .untrusted: "killed for an answer that is not believed"
        case .signalled(let signal): "by signal \(signal), \(String(cString: strsignal(signal)))"
        case .timedOut: "killed after their time"
        case .cancelled, .lostLease: "killed on request"
        case .notStarted: "before they began"
        }
    }
}
