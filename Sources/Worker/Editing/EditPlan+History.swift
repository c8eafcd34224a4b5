import Edits
import Library

extension EditPlan {
    /// Plans `revert`: the original becomes current, whichever editor made the edits and whether or not they can be
    /// decoded.
    static func revert(_ open: OpenAsset) -> EditPlan {
        open.content == nil
            ? .unchanged("the original is current")
            : .restore(Restoration(from: nil, timeline: nil))
    }

    /// Plans `undo`: the state before the last edit becomes current.
    ///
    /// - Parameter version: finds a version by name; nil if it was collected.
    static func undo(
        _ open: OpenAsset, version: (String) throws(Failure) -> Provenance?
    ) throws(Failure) -> EditPlan {
        let timeline = open.state.current?.timeline ?? .start
        guard timeline.state != nil else {
            return .unchanged("there is nothing to undo: the asset has no earlier edit")
        }
        let target = try timeline.before.map { name throws(Failure) in
            try found(name, version, open.asset)
        }
        return .restore(
            Restoration(from: target, timeline: timeline.undone(to: target?.timeline)))
    }

    /// Plans `redo`: the state before the last undo becomes current.
    static func redo(
        _ open: OpenAsset, version: (String) throws(Failure) -> Provenance?
    ) throws(Failure) -> EditPlan {
        let timeline = open.state.current?.timeline ?? .start
        guard let name = timeline.redo.first else {
            return .unchanged("there is nothing to redo: the last change was not an undo")
        }
        let target = try found(name, version, open.asset)
        return .restore(
            Restoration(from: target, timeline: timeline.redone(to: target.timeline)))
    }

    private static func found(
        _ name: String, _ version: (String) throws(Failure) -> Provenance?, _ asset: AssetPath
    ) throws(Failure) -> Provenance {
        guard let found = try version(name) else {
            throw Failure(
                .missingVersion,
                "the version \(name) of \(asset.string.debugDescription) is not kept any more; retention has "
                    + "collected it.")
        }
        return found
    }

    /// Plans `publish`: the draft becomes the next version.
    static func publish(_ version: String?, _ open: OpenAsset) throws(Failure) -> EditPlan {
        guard let draft = open.state.draft, version == nil || version == draft.version else {
            throw Failure(
                .missingDraft,
                "the asset \(open.asset.string.debugDescription) has "
                    + (open.state.draft.map { "the draft \($0.version), not " } ?? "no draft ")
                    + (version ?? "to publish") + ".")
        }
        guard draft.parent == open.state.current?.version else {
            throw Failure(
                .staleDraft,
                "the draft \(draft.version) of \(open.asset.string.debugDescription) was made on "
                    + "\(draft.parent ?? "the original"); now "
                    + "\(open.state.current?.version ?? "the original") is current. Discard the draft and edit again."
            )
        }
        return .restore(Restoration(from: draft, timeline: nil))
    }

    /// Plans `discard`: removes the draft, including the remains of an earlier attempt.
    static func removeDraft(_ version: String?) throws(Failure) -> EditPlan {
        guard let version else { return .discard(nil) }
        guard let name = VersionName(version) else {
            throw Failure(
                .invalidValue,
                "edit.version is \(version.debugDescription); expected the id of a version, such as 3-1763701440000000."
            )
        }
        return .discard(name)
    }
}
