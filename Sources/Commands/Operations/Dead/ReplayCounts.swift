import Edits
import JobQueue

/// The numbers of jobs by the result of their replay.
package struct ReplayCounts: Encodable, Sendable {
    package private(set) var replayed = 0
    package private(set) var refused = 0
    package private(set) var codes: [String: Int] = [:]

    package mutating func count(_ line: ReplayLine) {
        switch line.answer {
        case nil, .replayed:
            replayed += 1
            codes[line.code?.rawValue ?? "unknown", default: 0] += 1
        case .unknown, .notDead, .malformed, .stuck, .conflict, .later: refused += 1
        }
    }

    package init() {}
}
