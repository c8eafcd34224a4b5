public import Adjustments

extension Library {
    /// The history of an asset, as far back as it is kept.
    ///
    /// - Throws: `missingAsset` when there is neither an edit nor an original.
    public func versions(of asset: AssetPath) throws(Failure) -> History {
        let state = try state(of: asset)
        if state == AssetState() { _ = try original(of: asset) }
        return History(try history(of: asset), draft: state.draft)
    }

    /// The version that a person names.
    ///
    /// - Parameter text: its id, or its revision; a draft goes by its id or the word `draft`.
    /// - Throws: `missingVersion`, with what there is; `missingAsset`.
    public func version(_ text: String, of asset: AssetPath) throws(Failure) -> Provenance {
        let entries = try versions(of: asset).entries
        for entry in entries {
            let isDraft = entry.version.isDraft
            if entry.version.version == text
                || (isDraft ? text == "draft" : text == "\(entry.version.revision)")
            {
                return entry.version
            }
        }
        let known = entries.map { ($0.version.isDraft ? "draft " : "") + $0.version.version }
        throw Failure(
            .missingVersion,
            "\(asset.string.debugDescription) has no version \(text.debugDescription); "
                + (known.isEmpty
                    ? "nobody has edited it."
                    : "it has \(known.prefix(10).joined(separator: ", "))"
                        + (known.count > 10 ? " and \(known.count - 10) more." : "."))
                + " See minilab history.")
    }

    /// Path of what readers of a version see, below the library's root, as events name it.
    public static func shownPath(of version: Provenance, _ asset: AssetPath) -> String {
        version.content.map { "\(path(of: version, asset))/\($0.render.name)" }
            ?? "originals/\(asset)"
    }
}
