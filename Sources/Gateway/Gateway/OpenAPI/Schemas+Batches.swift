import Edits
import Library

extension Schemas {
    static var batches: [String: JSONValue] {
        [
            "BatchRequest": .fields(
                [
                    "id": .schema("BatchID"), "edit": .schema("Edit"), "tenant?": .schema("ID"),
                    "priority?": .schema("Priority"), "cost?": .integer(1...ContractLimits.costMax),
                    "cap?": .orNull(.integer(1...ContractLimits.batchJobsMax)),
                ], isClosed: true),
            "Seal": .fields(
                [
                    "jobs": .integer(1...ContractLimits.batchJobsMax),
                    "cost?": .integer(1...Int(1e15)),
                ], isClosed: true),
            "Batch": .fields(
                [
                    "record": .schema("BatchRecord"), "rate": .decimal, "meanCost?": .decimal,
                    "remainingSeconds?": .decimal,
                ], isClosed: true),
            "BatchRecord": .fields(
                [
                    "batch": .text, "tenant": .text, "folder?": .text,
                    "priority": .schema("Priority"), "opened": .moment, "sealed?": .count,
                    "sealedBecause?": .text, "admitted": .count, "lane": .count, "done": .count,
                    "dead": .count, "cancelled": .count, "generation": .count, "ended?": .moment,
                    "cancel?": .text, "cap?": .count, "milliseconds": .count, "costTotal?": .count,
                    "costEnded": .count, "now": .moment,
                ], isClosed: true),
            "Member": .fields(
                [
                    "asset": .schema("Job/properties/asset"), "edit?": .schema("Edit"),
                    "cost?": .integer(1...ContractLimits.costMax),
                    "fields?": .schema("Job/properties/fields"),
                ], isClosed: true),
            "MembersTaken": .fields(
                [
                    "next": .integer(0...ContractLimits.batchJobsMax),
                    "added": .integer(0...ContractLimits.batchJobsMax),
                ], isClosed: true),
            "OriginalTaken": .fields([
                "asset": .schema("AssetPath"), "bytes": .count, "sha256": .schema("SHA256"),
            ]),
            "History": .fields(
                [
                    "asset": .schema("AssetPath"), "versions": .list(.schema("Version")),
                    "undo": .schema("Move"), "redo": .schema("Move"),
                ], isClosed: true),
            "Version": .fields(
                [
                    "version": .text, "revision": .count,
                    "marks": .list(.choice(["current", "draft", "undo", "redo"]), max: 4),
                    "mode": .choice(Edit.Name.allCases.map(\.rawValue)), "at": .text, "job?": .text,
                    "engine": .text, "render?": .schema("Picture"),
                    "previews": .list(
                        .fields(["side": .count, "picture": .schema("Picture")], isClosed: true)),
                ], isClosed: true),
            "Picture": .fields(
                [
                    "mediaType": .text, "bytes": .count, "sha256": .schema("SHA256"),
                    "size": .fields(["width": .count, "height": .count]),
                ], isClosed: true),
            "Move": .fields(
                [
                    "to": .choice(["nothing", "original", "version"]), "version?": .text,
                    "isKept?": .flag,
                ], isClosed: true),
            "Diff": .fields(
                [
                    "asset": .schema("AssetPath"), "from": .text, "to": .text, "isSamePhoto": .flag,
                    "comparison?": .fields([
                        "steps": .list(.schema("DiffStep")), "output": .list(.schema("DiffChange")),
                    ]),
                ], isClosed: true),
            "DiffStep": .fields([
                "step": .choice(["same", "changed", "removed", "added"]), "old?": .count,
                "new?": .count, "name?": .text, "filter?": .anything,
                "changes?": .list(.schema("DiffChange")),
            ]),
            "DiffChange": .fields(["name": .text, "old?": .anything, "new?": .anything]),
        ]
    }
}
