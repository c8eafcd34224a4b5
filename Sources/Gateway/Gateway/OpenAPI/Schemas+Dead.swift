import Edits
import JobQueue
import Operations

extension Schemas {
    static var dead: [String: JSONValue] {
        [
            "DeadJob": .fields(
                [
                    "job": .text, "format": .count, "state": .schema("JobState"), "asset": .text,
                    "tenant": .text, "priority": .text, "batch?": .text, "generation": .count,
                    "attempts": .count, "crashes": .count, "worker?": .text, "enqueued": .count,
                    "claimed?": .count, "ended?": .count, "code?": .text, "message?": .text,
                    "fence?": .text, "version?": .text, "outcome?": .text, "stage?": .text,
                    "progress?": .fields(["framesDone": .count, "frames": .count]), "group?": .text,
                    "cancel?": .text,
                ], isClosed: true),
            "DeadGroups": .fields(
                [
                    "groups": .list(
                        .fields(
                            [
                                "name": .text, "code": .text, "tenant": .text, "edit?": .text,
                                "jobs": .count, "first": .count, "last": .count, "sample": .text,
                            ], isClosed: true), max: DeadGroup.groupsMax), "others?": .count,
                ], isClosed: true),
            "Bundle": .fields(
                [
                    "job": .text, "asset": .text, "edit?": .anything, "tenant": .text,
                    "priority": .text, "batch?": .text, "generation": .count, "attempts": .count,
                    "crashes": .count, "code?": .text, "message?": .text, "stage?": .text,
                    "history": .list(
                        .fields([
                            "at": .text, "code": .text, "message": .text, "fence": .text,
                            "worker": .text, "stage?": .text, "signal?": .integer(0...128),
                        ])),
                    "original?": .fields([
                        "path?": .text, "sha256?": .schema("SHA256"), "bytes?": .count,
                        "trouble?": .text,
                    ]), "engine": .text, "commit?": .text, "command": .text,
                ], isClosed: true),
            "When": .any(
                .text(2...8, pattern: "^[0-9]{1,4}(ms|s|m|h|d)$"),
                .object([
                    "type": .string("string"), "format": .string("date-time"),
                    "pattern": .string("^[12][0-9]{3}-.*Z$"),
                ])),
            "DraftTrial": .fields(["withEdit?": .schema("Edit")], isClosed: true),
            "Replay": .fields(
                [
                    "batch?": .orNull(.schema("BatchID")), "tenant?": .orNull(.schema("ID")),
                    "codes?": .orNull(.list(.choice(FailureCode.allCases.map(\.rawValue)))),
                    "since?": .orNull(.any(.schema("When"), .moment)),
                    "until?": .orNull(.any(.schema("When"), .moment)),
                    "edit?": .orNull(.schema("SHA256")),
                    "rate?": .orNull(.integer(1...ReplayBody.rateMax)),
                    "withEdit?": .orNull(.schema("Edit")), "dryRun?": .flag,
                    "expected?": .orNull(.integer(0...Int(1e12))),
                    "first?": .orNull(.integer(1...ReplayTrial.firstMax)),
                    "stopAtPercent?": .orNull(.integer(1...100)),
                ], isClosed: true),
            "ReplayPreview": .fields(
                [
                    "count": .count, "isComplete": .flag, "codes": .map(.count), "until": .moment,
                    "aboutSeconds?": .count,
                    "sample": .list(
                        .fields(
                            ["job": .text, "asset": .text, "code?": .text, "message?": .text],
                            isClosed: true)),
                ], isClosed: true),
            "ReplayOrder": .fields(
                [
                    "id": .text,
                    "state": .choice([
                        "running", "stopped", "done", "failed", "trying", "held",
                    ]),
                    "trial?": .fields(
                        [
                            "first": .integer(1...ReplayTrial.firstMax),
                            "stopAtPercent": .integer(1...100),
                            "jobs?": .list(
                                .fields(["job": .text, "generation": .count], isClosed: true)),
                            "succeeded": .count, "failed": .count,
                        ], isClosed: true),
                    "reach?": .fields(["tenant?": .text, "folder": .text]), "batch?": .text,
                    "message?": .text, "tenant?": .text, "codes": .list(.text),
                    "since?": .integer(-(1 << 53)...1 << 53),
                    "until": .integer(-(1 << 53)...1 << 53), "edit?": .schema("SHA256"),
                    "withEdit?": .text, "rate?": .integer(1...ReplayBody.rateMax), "by": .text,
                    "startedAt": .moment, "expected": .count, "replayed": .count, "refused": .count,
                    "died": .map(.count), "endedAt?": .moment, "runner?": .text,
                    "runnerUntil?": .count,
                ], isClosed: true),
        ]
    }
}
