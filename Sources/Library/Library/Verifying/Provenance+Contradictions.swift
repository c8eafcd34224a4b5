import Edits

extension Provenance {
    /// Returns the contradictions between a version and its parent, one sentence each.
    ///
    /// - Parameters:
    ///   - parent: the parent; nil for the first version.
    ///   - version: finds a version by name; nil if it is not kept.
    package func contradictions(
        to parent: Provenance?, version: (String) -> Provenance?
    ) -> [String] {
        var sentences: [String] = []
        let revision = (parent?.revision ?? 0) + 1
        if self.revision != revision || VersionName(self.version)?.revision != revision {
            sentences.append(
                "its revision is \(self.revision), its name \(self.version); going by its parent it is "
                    + "revision \(revision)")
        }
        let before = parent?.timeline ?? .start
        guard let name = VersionName(self.version) else { return sentences }
        switch mode {
        case .undo:
            sentences += restored(
                before.before, version
            ) { before.undone(to: $0?.timeline) }
        case .redo:
            guard let next = before.redo.first else {
                return sentences + ["it redoes, but its parent has nothing to redo"]
            }
            sentences += restored(next, version) { before.redone(to: $0?.timeline ?? .start) }
        case .replace, .append, .amend, .revert, .copyEdit, .render, .import, .publish, .discard:
            if timeline != before.edited(by: name) {
                sentences.append(
                    "its position in the history is not the one after \(parent?.version ?? "the original")"
                )
            }
        }
        if (mode == .revert) && content != nil {
            sentences.append("it reverts to the original, but has a render")
        }
        return sentences
    }

    /// - Parameter state: the target of undo or redo; nil for the original.
    private func restored(
        _ state: String?, _ version: (String) -> Provenance?,
        _ expected: (Provenance?) -> Timeline
    ) -> [String] {
        let target = state.flatMap(version)
        // A version that is no longer kept cannot contradict.
        guard state == nil || target != nil else { return [] }
        var sentences: [String] = []
        if timeline != expected(target) {
            sentences.append("its position in the history is not where \(mode.rawValue) goes")
        }
        if content != target?.content {
            sentences.append("it does not show what \(state ?? "the original") shows")
        }
        return sentences
    }
}
