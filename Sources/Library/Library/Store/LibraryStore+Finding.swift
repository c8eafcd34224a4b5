public import Edits
import Files

extension LibraryStore {
    /// Returns the history of an asset, as far back as it is kept.
    ///
    /// - Throws: `missingAsset` if there is neither an edit nor an original; `storeUnavailable` if there is none because the library is
    ///   not at its place.
    public func versions(of asset: AssetPath) async throws(Failure) -> History {
        let state = try await state(of: asset)
        if state == AssetState() {
            try await checkPresence()
            try await checkOriginal(of: asset)
        }
        return History(try await history(of: asset), draft: state.draft)
    }

    /// Returns the version that a user names.
    ///
    /// - Parameter text: its id, or its revision. A draft is named by its id or the word `draft`.
    /// - Throws: `missingVersion`, with a list of the existing versions; `missingAsset`.
    public func version(
        _ text: String, of asset: AssetPath
    ) async throws(Failure) -> Provenance {
        let entries = try await versions(of: asset).entries
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
                    ? "it has no edits."
                    : "it has \(known.prefix(10).joined(separator: ", "))"
                        + (known.count > 10 ? " and \(known.count - 10) more." : "."))
                + " See minilab history.")
    }

    /// Throws unless the original of an asset exists.
    ///
    /// - Throws: `missingAsset`, `assetOutsideLibrary`, `unsupportedFormat`, `ioFailure`.
    public func checkOriginal(of asset: AssetPath) async throws(Failure) {
        guard isElsewhere else {
            _ = try await open(.original(asset))
            return
        }
        // Checked without transferring the file.
        let found = try await info(of: .original(asset))
        guard found.bytes == nil else { return }
        throw Failure(
            .missingAsset,
            "there is no \(found.location), and \(asset.string.debugDescription) has no edits. Use the path of the "
                + "original as the asset's name.")
    }

    /// Returns the file that readers of a version see.
    public func shownFile(
        of version: Provenance, _ asset: AssetPath
    ) throws(Failure) -> StoredFile {
        guard let content = version.content else { return .original(asset) }
        return try StoredFile(content.render.name, of: version, asset)
    }

    /// Refuses an asset whose files in a version would have too long names.
    ///
    /// - Parameter format: the format of the render; nil: that of the original.
    /// - Throws: `invalidValue`.
    public func checkStem(of asset: AssetPath, format: Recipe.Format?) throws(Failure) {
        // The length of the sidecar's extension, or of the render's if that is longer.
        let ending = max(4, 1 + (format?.fileExtension.utf8.count ?? 0))
        let bytes = asset.stem.utf8.count + ending
        guard bytes > FileSystem.nameBytesMax else { return }
        throw Failure(
            .invalidValue,
            "the asset \(asset.string.debugDescription) has too long a name: its render or its adjustment data would "
                + "have one of \(bytes) bytes, and a file's may have \(FileSystem.nameBytesMax). Give the original a shorter "
                + "one.")
    }
}
