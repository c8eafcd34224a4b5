import Edits
import JobQueue

extension Schemas {
    /// The schemas of jobs and their events.
    static var jobs: [String: JSONValue] {
        [
            "JobTaken": .fields(
                ["job": .text, "state": .schema("JobState")], required: ["job", "state"]),
            "JobState": .choice(
                JobState.allCases.map(\.rawValue) + ["dropped", "lane", "cancelled"]),
            "JobReason": .fields(["code": .text], required: ["code"]),
            "JobView": .fields(
                [
                    "job": .text, "state": .schema("JobState"), "reason": .schema("JobReason"),
                    "detail": .text, "asset": .text, "tenant": .text, "priority": .text,
                    "batch": .text, "outcome": .text, "version": .text, "code": .text,
                    "generation": .count, "attempts": .count, "crashes": .count, "enqueued": .count,
                    "claimed": .count, "ended": .count, "frames": .count, "framesDone": .count,
                    "history": .list(.schema("JobAttempt")),
                ], required: ["job", "state", "reason", "detail"], isClosed: true),
            "JobAttempt": .fields(
                [
                    "at": .text, "code": .text, "message": .text, "worker": .text, "stage": .text,
                    "signal": .integer(0...128),
                ], required: ["at", "code", "message", "worker"], isClosed: true),
            "JobCancelled": .fields(
                ["job": .text, "answer": .choice(["cancelled", "stopping"])],
                required: ["job", "answer"], isClosed: true),
            "EventLine": .fields(
                ["id": .schema("EventID"), "event": .schema("Event")], required: ["id", "event"],
                isClosed: true),
            "EventID": .text(1...39, pattern: "^[0-9]{1,19}(-[0-9]{1,19})?$"),
        ]
    }
}
