import Edits
import JobQueue
import Operations

extension ReplayLine {
    /// The result, as text for people.
    var text: String {
        switch answer {
        case nil: "would be started again" + (code.map { " (\($0.rawValue))" } ?? "")
        case .replayed: "replayed"
        case .unknown: "there is no such job (any more)"
        case .notDead: "is not dead; run minilab explain \(job) for its state"
        case .stuck:
            "is stuck, so it cannot get another edit; cancel it and send the edit as a new job"
        case .conflict: "is the id of another job by now; send its edit again under another id"
        case .later: "has a record of a later format; use a newer minilab"
        case .malformed: "is malformed: there is nothing to run; have it sent again"
        }
    }
}

extension ReplayCounts {
    /// Returns the number of jobs by result, as text for people.
    func text(isDryRun: Bool) -> String {
        let by = codes.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            .map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        return counted(replayed, "job") + (isDryRun ? " would be replayed" : " replayed")
            + (by.isEmpty ? "" : " (\(by))")
            + (refused > 0 ? "; \(refused) cannot be" : "")
    }
}
