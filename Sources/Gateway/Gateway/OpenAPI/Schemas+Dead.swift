import Edits
import JobQueue
import Operations

extension Schemas {
    /// The schemas of dead jobs and their replays.
    static var dead: [String: JSONValue] {
        [
            "DeadJob": .fields(
                [
                    "job": .text, "format": .count, "state": .schema("JobState"), "asset": .text,
                    "tenant": .text, "priority": .text, "batch": .text, "generation": .count,
                    "attempts": .count, "crashes": .count, "worker": .text, "enqueued": .count,
                    "claimed": .count, "ended": .count, "code": .text, "message": .text,
                    "fence": .text, "version": .text, "outcome": .text, "stage": .text,
                    "progress": .fields(
                        ["framesDone": .count, "frames": .count],
                        required: ["framesDone", "frames"]),
                    "group": .text, "cancel": .text,
                ],
                required: [
                    "job", "format", "state", "asset", "tenant", "priority", "generation",
                    "attempts",
                    "crashes", "enqueued",
                ], isClosed: true),
            "DeadGroups": .fields(
                [
                    "groups": .list(
                        .fields(
                            [
                                "name": .text, "code": .text, "tenant": .text, "edit": .text,
                                "jobs": .count, "first": .count, "last": .count, "sample": .text,
                            ],
                            required: [
                                "name", "code", "tenant", "jobs", "first", "last", "sample",
                            ],
                            isClosed: true), max: DeadGroup.groupsMax), "others": .count,
                ], required: ["groups"], isClosed: true),
            "Bundle": .fields(
                [
                    "job": .text, "asset": .text, "edit": .anything, "tenant": .text,
                    "priority": .text, "batch": .text, "generation": .count, "attempts": .count,
                    "crashes": .count, "code": .text, "message": .text, "stage": .text,
                    "history": .list(
                        .fields(
                            [
                                "at": .text, "code": .text, "message": .text, "fence": .text,
                                "worker": .text, "stage": .text, "signal": .integer(0...128),
                            ], required: ["at", "code", "message", "fence", "worker"])),
                    "original": .fields([
                        "path": .text, "sha256": .schema("SHA256"), "bytes": .count,
                        "trouble": .text,
                    ]), "engine": .text, "command": .text,
                ],
                required: [
                    "job", "asset", "tenant", "priority", "generation", "attempts", "crashes",
                    "history", "engine", "command",
                ], isClosed: true),
            "When": .any(
                .text(2...8, pattern: "^[0-9]{1,4}(ms|s|m|h|d)$"),
                .object([
                    "type": .string("string"), "format": .string("date-time"),
                    "pattern": .string("^[12][0-9]{3}-.*Z$"),
                ])),
            "DraftTrial": .fields(["withEdit": .schema("Edit")], isClosed: true),
            "Replay": .fields(
                [
                    "batch": .orNull(.schema("BatchID")), "tenant": .orNull(.schema("ID")),
                    "codes": .orNull(.list(.choice(FailureCode.allCases.map(\.rawValue)))),
                    "since": .orNull(.any(.schema("When"), .moment)),
                    "until": .orNull(.any(.schema("When"), .moment)),
                    "edit": .orNull(.schema("SHA256")),
                    "rate": .orNull(.integer(1...ReplayBody.rateMax)),
                    "withEdit": .orNull(.schema("Edit")), "dryRun": .flag,
                    "expected": .orNull(.integer(0...Int(1e12))),
                ], isClosed: true),
            "ReplayPreview": .fields(
                [
                    "count": .count, "isComplete": .flag, "codes": .map(.count), "until": .moment,
                    "aboutSeconds": .count,
                    "sample": .list(
                        .fields(
                            ["job": .text, "asset": .text, "code": .text, "message": .text],
                            required: ["job", "asset"], isClosed: true)),
                ], required: ["count", "isComplete", "codes", "until", "sample"], isClosed: true),
            "ReplayOrder": .fields(
                [
                    "id": .text, "state": .choice(["running", "stopped", "done", "failed"]),
                    "reach": .fields(["tenant": .text, "folder": .text], required: ["folder"]),
                    "batch": .text, "message": .text,
                    "tenant": .text, "codes": .list(.text), "since": .integer(-(1 << 53)...1 << 53),
                    "until": .integer(-(1 << 53)...1 << 53), "edit": .schema("SHA256"),
                    "withEdit": .text, "rate": .integer(1...ReplayBody.rateMax), "by": .text,
                    "startedAt": .moment, "expected": .count, "replayed": .count, "refused": .count,
                    "died": .map(.count), "endedAt": .moment, "runner": .text,
                    "runnerUntil": .count,
                ],
                required: [
                    "id", "state", "codes", "until", "by", "startedAt", "expected", "replayed",
                    "refused", "died",
                ], isClosed: true),
        ]
    }
}
