import Edits
import JobQueue

extension Schemas {
    static var operating: [String: JSONValue] {
        [
            "Limits": .object(
                [
                    "type": .string("object"), "minProperties": .number(1),
                    "additionalProperties": .bool(false),
                    "properties": .object([
                        "cap": .orNull(.integer(0...QueueRule.numberMax)),
                        "weight": .orNull(.integer(1...QueueRule.numberMax)),
                    ]),
                ]),
            "Queue": .fields(
                [
                    "queue": .text, "at": .time, "status": .schema("QueueStatus"),
                    "perSecond?": .map(.decimal), "batches": .list(.schema("Batch")),
                    "moreBatches": .count,
                ], isClosed: true),
            "QueueStatus": .fields(
                JobState.counted.reduce(into: [
                    "paused?": .text,
                    "ingressHold?": .fields(
                        ["entries": .count, "jobs": .count, "bytes": .count, "memory?": .count],
                        isClosed: true),
                    "flows": .list(
                        .fields(
                            [
                                "priority": .schema("Priority"), "tenant": .text, "ready": .count,
                                "start": .count, "isCapped": .flag,
                            ], isClosed: true), max: QueueStatus.flowsMax),
                    "counters": .map(.object(["type": .string("integer")])),
                    "held": .list(.schema("DeadJob"), max: QueueStatus.heldMax),
                    "stuckJobs": .list(.schema("DeadJob")), "workers": .list(.schema("Worker")),
                    "silentWorkers": .list(
                        .fields(["name": .text, "since?": .count], isClosed: true)),
                    "overdue": .fields(["delayed": .count, "leases": .count], isClosed: true),
                ]) { $0[$1.countName] = .count }, isClosed: true),
            "Worker": .fields(
                [
                    "name": .text, "slots": .count, "busy": .count, "version": .text,
                    "startedAt": .text, "run?": .text, "leaseMilliseconds?": .count,
                    "queueFormat?": .count,
                    "library?": .text, "machine?": .map(.text),
                    "trouble?": .text,
                    "memory?": .fields(
                        ["budgetBytes": .count, "grantedBytes": .count, "waiting": .count],
                        isClosed: true),
                    "pressure?": .fields(
                        ["level": .text, "paused": .count, "reading": .text], isClosed: true),
                ], isClosed: true),
            "ScaleAdvice": .fields(
                [
                    "workers": .count,
                    "reason": .choice(ScaleAdvice.Reason.allCases.map(\.rawValue)),
                    "running": .count, "workSeconds": .decimal, "jobs": .count,
                    "slotsPerWorker": .decimal, "drainSeconds?": .decimal, "within": .count,
                ], isClosed: true),
            "Diagnosis": .fields(
                [
                    "mended": .list(.schema("Finding"), max: Diagnosis.findingsMax),
                    "open": .list(.schema("Finding"), max: Diagnosis.findingsMax),
                    "warnings": .list(.text, max: Diagnosis.findingsMax), "places": .count,
                    "flows": .count, "batches": .count,
                ], isClosed: true),
            "Finding": .fields(
                [
                    "kind": .choice(Finding.Kind.allCases.map(\.rawValue)), "subject": .text,
                    "detail": .text, "isMended": .flag,
                ], isClosed: true),
        ]
    }
}
