import AccessKeys
import Edits
import JobQueue
import Operations

enum Schemas {
    static var all: [String: JSONValue] {
        [Contracts.all, shared, jobs, batches, dead, operating, keys, webhooks]
            .reduce(into: [:]) { all, part in all.merge(part) { own, _ in own } }
    }

    private static var shared: [String: JSONValue] {
        [
            "ID": .text(
                1...ContractLimits.jobIDLengthMax, pattern: "^[A-Za-z0-9][A-Za-z0-9._-]*$"),
            "BatchID": .text(
                1...ContractLimits.batchIDLengthMax, pattern: "^[A-Za-z0-9][A-Za-z0-9._-]*$"),
            "Priority": .choice(Priority.allCases.map(\.rawValue)),
            "SHA256": .text(64...64, pattern: "^[0-9a-f]{64}$"),
            "Reason": .fields(["reason": .text(1...QueueRule.reasonBytesMax)], isClosed: true),
            "Problem": .fields([
                "type": .text, "title": .text, "status": .integer(400...599),
                "code": .text(1...64, pattern: "^[a-zA-Z]+$"), "detail": .text,
                "pointer?": .text(1...4096, pattern: "^#"), "line?": .integer(1...Int(1e9)),
                "next?": .integer(0...ContractLimits.batchJobsMax),
                "sealed?": .integer(0...ContractLimits.batchJobsMax), "waiting?": .count,
                "max?": .count, "bytesMax?": .count, "count?": .count, "newest?": .text,
                "job?": .text, "added?": .integer(0...ContractLimits.batchJobsMax),
                "refusedCount?": .integer(1...Int(1e9)), "linesRead?": .integer(0...Int(1e9)),
                "refused?": .list(
                    .fields([
                        "line": .integer(1...Int(1e9)),
                        "code": .text(1...64, pattern: "^[a-zA-Z]+$"), "detail": .text,
                    ])),
            ]),
            "AssetPath": .schema("Job/properties/asset"),
        ]
    }
}

extension Schemas {
    static var jobs: [String: JSONValue] {
        [
            "JobTaken": .fields(["job": .text, "state": .schema("JobState")]),
            // Clients of 0.4 may know `cancelled`, which is an outcome.
            "JobState": .choice(JobState.allCases.map(\.rawValue) + ["cancelled"]),
            "JobReason": .fields(["code": .text]),
            "JobView": .fields(
                [
                    "job": .text, "state": .schema("JobState"), "reason": .schema("JobReason"),
                    "detail": .text, "asset?": .text, "tenant?": .text, "priority?": .text,
                    "batch?": .text, "outcome?": .text, "version?": .text, "code?": .text,
                    "generation?": .count, "attempts?": .count, "crashes?": .count,
                    "enqueued?": .count, "claimed?": .count, "ended?": .count, "frames?": .count,
                    "framesDone?": .count, "history?": .list(.schema("JobAttempt")),
                ], isClosed: true),
            "JobAttempt": .fields(
                [
                    "at": .text, "code": .text, "message": .text, "worker": .text, "stage?": .text,
                    "signal?": .integer(0...128),
                ], isClosed: true),
            "JobCancelled": .fields(
                ["job": .text, "answer": .choice(["cancelled", "stopping"])], isClosed: true),
            "EventLine": .fields(
                ["id": .schema("EventID"), "event": .schema("Event")], isClosed: true),
            "EventID": .text(1...39, pattern: "^[0-9]{1,19}(-[0-9]{1,19})?$"),
        ]
    }
}
