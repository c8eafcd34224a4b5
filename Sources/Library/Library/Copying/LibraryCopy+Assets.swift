import Edits
import Files

extension LibraryCopy {
    /// Copies an edited asset. If it changes at the source in the meantime, the copy is started again.
    func copyEdited(_ asset: AssetPath) async throws(Failure) -> CopiedAsset.Result {
        var history = try await source.kept(of: asset)
        for _ in 1..<Self.roundsMax {
            do throws(Failure) {
                return try await copy(asset, history)
            } catch {
                // A version that was collected, or a draft that was discarded, during the copy is not a damage.
                let now = try await source.kept(of: asset)
                guard now != history else { throw error }
                history = now
            }
        }
        return try await copy(asset, history)
    }

    /// Copies an asset with a given history. The head is written last, so that an interrupted copy is invisible to
    /// readers.
    private func copy(
        _ asset: AssetPath, _ history: KeptHistory
    ) async throws(Failure) -> CopiedAsset.Result {
        // Nothing is copied if the target's asset has another history.
        let there = try await target.state(of: asset)
        if case .differs(let sentence) = history.over(
            current: there.current?.version, draft: there.draft?.version)
        {
            throw Failure(.revisionConflict, sentence)
        }
        try await target.checkEntries(of: asset)
        var copied = CopiedAsset.Copied()
        if options.copiesOriginals {
            try await copyOriginal(asset, expected: history.originalDigest, &copied.tally)
        }
        for version in try history.copies() {
            let tally = try await target.copy(version, of: asset, from: source)
            if tally.filesCopied > 0 { copied.versions += 1 }
            copied.tally.add(tally)
            if options.readsBack { try await readBack(version, of: asset) }
        }
        if case .differs(let sentence) = try await target.advance(asset, to: history) {
            throw Failure(.revisionConflict, sentence)
        }
        if let current = history.current,
            try await target.state(of: asset).arrival < history.arrival
        {
            _ = try await target.confirm(current, of: asset, at: history.arrival)
        }
        return .copied(copied)
    }

    /// Copies an unedited original.
    func copyUnedited(_ asset: AssetPath) async throws(Failure) -> CopiedAsset.Result {
        var copied = CopiedAsset.Copied()
        try await copyOriginal(asset, expected: nil, &copied.tally)
        return .copied(copied)
    }

    /// - Parameter expected: the SHA-256 of the original that the current version records.
    private func copyOriginal(
        _ asset: AssetPath, expected: String?, _ tally: inout CopyTally
    ) async throws(Failure) {
        let original = StoredFile.original(asset)
        guard let wanted = try await source.digest(of: original, isRead: false) else {
            throw Failure(
                .missingAsset,
                "there is no original for the asset \(asset.string.debugDescription) at the source. Restore it, or copy "
                    + "without originals.")
        }
        if let expected, expected != wanted.sha256 {
            throw Failure(
                .damagedVersion,
                "the original of \(asset.string.debugDescription) is not the photo that was edited: its SHA-256 is "
                    + "\(wanted.sha256), expected \(expected). Restore it, or edit it again.")
        }
        if let found = try await target.digest(of: original, isRead: options.readsBack) {
            guard found == wanted else {
                throw Failure(
                    .revisionConflict,
                    "the copy has another original of \(asset.string.debugDescription): SHA-256 \(found.sha256) and "
                        + "\(found.bytes) bytes, the source's is \(wanted.sha256) with \(wanted.bytes). Remove the "
                        + "wrong one.")
            }
            return tally.skipped(wanted.bytes)
        }
        try await target.copy(original: source.open(original), wanted, of: asset)
        tally.copied(wanted.bytes)
        guard options.readsBack else { return }
        try check(try await target.digest(of: original, isRead: true), wanted, original)
    }

    /// Reads a version's files back from the target and compares them.
    private func readBack(
        _ copy: VersionCopy, of asset: AssetPath
    ) async throws(Failure) {
        for file in copy.files.map(\.recorded) {
            let stored = copy.file(file.name, of: asset)
            let found = try await target.digest(of: stored, isRead: true)
            let wanted = StoredDigest(
                sha256: file.sha256, bytes: file.bytes ?? found?.bytes ?? 0)
            try check(found, wanted, stored)
        }
        _ = try await target.provenanceText(of: copy, asset)
    }

    private func check(
        _ found: StoredDigest?, _ wanted: StoredDigest, _ file: StoredFile
    ) throws(Failure) {
        guard found != wanted else { return }
        throw Failure(
            .ioFailure,
            "\(file.label) was written to the copy, and reads back "
                + (found.map { "with SHA-256 \($0.sha256)" } ?? "as missing")
                + "; expected \(wanted.sha256). Check the target's disk, and copy again.")
    }
}

extension StoredFile {
    fileprivate var label: String {
        switch self {
        case .original(let asset): "the original of \(asset)"
        case .layer(let asset, let version, _, let name): "\(name) of \(asset)@\(version)"
        }
    }
}
