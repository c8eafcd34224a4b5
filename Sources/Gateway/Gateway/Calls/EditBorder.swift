import AccessKeys
import Edits

/// The check that keeps the edits of a key below its asset prefix. The assets and files that an edit names must be the
/// key's own, too.
///
/// An edit that many members of a batch share is checked once. Not for use by several tasks at a time.
struct EditBorder {
    /// The key's folder, and that of the batch to which the jobs belong.
    private let folders: [Reach]
    /// The SHA-256 of the edits' bytes: two that name assets in different normal forms are equal as Swift's strings, and an edit may have
    /// 64 KB. A body with a thousand of them would keep 64 MB.
    private var checked: Set<[UInt8]> = []

    /// The most edits that are remembered as checked.
    private static let checkedMax = 1000

    /// - Parameter batch: the folder of the batch whose members are checked: a reader of the batch sees all of them.
    init(_ key: AccessKey, _ batch: AssetPrefix = .all) {
        folders = [key.reach, Reach(tenant: nil, folder: batch.string)]
    }

    /// - Parameter json: the edit as canonical JSON that was parsed before.
    /// - Throws: `notFound`, the same as for a missing asset.
    mutating func check(_ json: String) throws {
        guard folders.contains(where: { !$0.folder.isEmpty }) else { return }
        let digest = SHA256.hash(data: json.utf8)
        guard !checked.contains(digest) else { return }
        try check(Edit(json: json))
        if checked.count >= Self.checkedMax { checked = [] }
        checked.insert(digest)
    }

    func check(_ edit: Edit) throws(Problem) {
        for (asset, pointer) in edit.namedAssets where !covers(asset) {
            throw Self.foreign(asset, pointer: pointer)
        }
    }

    func check(_ asset: AssetPath) throws(Problem) {
        guard covers(asset) else { throw Self.foreign(asset, pointer: "#/asset") }
    }

    private func covers(_ asset: AssetPath) -> Bool {
        folders.allSatisfy { $0.covers(asset: asset.string) }
    }

    private static func foreign(_ asset: AssetPath, pointer: String) -> Problem {
        var problem = Problem(
            .notFound,
            "The asset \(asset.string.debugDescription) is not below the asset prefix of this key and its batch; nothing else is known of it here."
        )
        problem.pointer = pointer
        return problem
    }
}

extension Edit {
    /// The assets and library files that the edit names beside its own asset, each with its JSON pointer.
    var namedAssets: [(asset: AssetPath, pointer: String)] {
        switch mode {
        case .copyEdit(let source): return [(source.asset, "#/edit/from")]
        case .import(let imported):
            var named: [(AssetPath, String)] = []
            if case .sidecar(let path) = imported.adjustment {
                named.append((path, "#/edit/sidecar"))
            }
            if let render = imported.render { named.append((render, "#/edit/render")) }
            return named
        case .replace, .append, .amend, .revert, .undo, .redo, .render, .renditions, .publish,
            .discard:
            return []
        }
    }
}
