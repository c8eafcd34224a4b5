package import Edits
import Files

/// Copies a library into another one: originals, versions, drafts, and last the pointers to the current versions.
///
/// There is no journal. Files that the target has with the same bytes are skipped, so the same call completes a
/// copy that was interrupted or that was made while workers ran.
package struct LibraryCopy: Sendable {
    let source: any CopyableLibrary
    let target: any CopyableLibrary
    let options: Options

    /// The most assets that are copied at the same time.
    package static let assetsAtOnce = 4
    /// The most times that the copy of an asset is started. Each repetition means that the asset changed at the
    /// source.
    static let roundsMax = 3

    /// The parts to copy, and the checks.
    package struct Options: Sendable {
        /// Whether originals are copied. If not, they must be where the target expects them.
        package var copiesOriginals = true
        /// Whether renditions are copied. They can be made again at the target.
        package var copiesRenditions = true
        /// Whether all files are read back from the target.
        package var readsBack = false

        package init() {}
    }

    package init(
        from source: any CopyableLibrary, to target: any CopyableLibrary, _ options: Options
    ) {
        (self.source, self.target, self.options) = (source, target, options)
    }

    /// Copies everything: first the edited assets, then the other originals.
    ///
    /// A failure of one asset is reported and does not stop the others.
    ///
    /// - Parameter report: called with each asset when it is done, one at a time.
    /// - Throws: the failures that stop the copy: `storeUnavailable`, `noSpace`, and a list that cannot be read.
    package func run(
        _ report: (CopiedAsset) throws(Failure) -> Void
    ) async throws(Failure) -> CopySummary {
        var summary = CopySummary()
        try await target.sweepCopies()
        var last: AssetPath?
        repeat {
            let page = try await source.assets(after: last)
            try await each(page.assets, &summary, report) { asset throws(Failure) in
                try await copyEdited(asset)
            }
            last = page.next
        } while last != nil
        guard options.copiesOriginals else { return summary }
        try await source.originals { page throws(Failure) in
            for refused in page.refused {
                let line = CopiedAsset(asset: refused.name, result: .refused(refused.failure))
                summary.add(line)
                try report(line)
            }
            try await each(page.assets, &summary, report) { asset throws(Failure) in
                // An edited asset was copied with its versions before. If it was edited only now, the next copy
                // includes it.
                try await source.isEdited(asset) ? nil : try await copyUnedited(asset)
            }
        }
        return summary
    }

    /// Calls `body` for each of `assets`, a few at a time.
    private func each(
        _ assets: [AssetPath], _ summary: inout CopySummary,
        _ report: (CopiedAsset) throws(Failure) -> Void,
        _ body: @escaping @Sendable (AssetPath) async throws(Failure) -> CopiedAsset.Result?
    ) async throws(Failure) {
        let stopping = await withTaskGroup(of: CopiedAsset?.self) { group in
            var rest = assets.makeIterator()
            func begin() {
                guard let asset = rest.next() else { return }
                group.addTask {
                    do throws(Failure) {
                        let result = try await body(asset)
                        return result.map { CopiedAsset(asset: asset.string, result: $0) }
                    } catch {
                        return CopiedAsset(asset: asset.string, result: .refused(error))
                    }
                }
            }
            for _ in 0..<Self.assetsAtOnce { begin() }
            var stopping: Failure?
            while let line = await group.next() {
                if stopping == nil { begin() }
                guard let line else { continue }
                do throws(Failure) {
                    summary.add(line)
                    try report(line)
                } catch {
                    stopping = error
                }
                if case .refused(let failure) = line.result, failure.stopsCopy {
                    stopping = stopping ?? failure
                }
            }
            return stopping
        }
        if let stopping { throw stopping }
    }
}

extension Failure {
    /// Whether the next asset would fail too.
    fileprivate var stopsCopy: Bool { code == .storeUnavailable || code == .noSpace }
}

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
        // Afterwards, because a version gets renditions only while it is kept.
        if options.copiesRenditions {
            for version in try history.copies() {
                try await copyRenditions(of: version.name, asset, &copied.tally)
            }
        }
        if let current = history.current,
            try await target.state(of: asset).arrival < history.arrival
        {
            _ = try await target.confirm(current, of: asset, at: history.arrival)
        }
        return .copied(copied)
    }

    /// Copies the renditions that the target's version does not have.
    private func copyRenditions(
        of version: VersionName, _ asset: AssetPath, _ tally: inout CopyTally
    ) async throws(Failure) {
        let list = try await source.sizes(of: version, asset)
        guard !list.renditions.isEmpty else { return }
        let there = try await target.sizes(of: version, asset)
        let staged = StagedVersion(
            queue: LibraryFolder.copyQueue, job: LibraryFolder.shortName(asset),
            fence: "sizes-\(version)")
        var missing: [String: StoredRendition] = [:]
        _ = try await offPool { () throws(Failure) in try target.staging.begin(staged) }
        for name in list.names {
            guard let rendition = list.renditions[name] else { continue }
            let plain = rendition.namedPlainly(name)
            if let known = there.renditions[name], known.isSame(as: rendition) {
                tally.skipped(rendition.made.bytes)
                continue
            }
            let open = try await source.open(
                .rendition(asset, version: version, file: rendition.file))
            let found = try await offPool { () throws(Failure) in
                StoredDigest(
                    try target.staging.copy(
                        open, as: plain.stagedName, into: staged, bytesMax: .max))
            }
            try rendition.check(found, open.name)
            tally.copied(found.bytes)
            missing[name] = plain
        }
        if !missing.isEmpty {
            _ = try await target.add(missing, to: version, of: asset, from: staged)
        }
        try await target.discard(staged)
    }

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
        case .rendition(let asset, let version, let file):
            "the rendition \(file) of \(asset)@\(version)"
        }
    }
}

package struct CopiedAsset: Sendable, Equatable {
    /// The name of the asset, or of an original whose name is not valid for an asset.
    package let asset: String
    package let result: Result

    /// The result of a copy for one asset.
    package enum Result: Sendable, Equatable {
        /// The target has the complete asset.
        case copied(Copied)
        /// The target is unchanged.
        case refused(Failure)
    }

    /// The numbers of written and existing files.
    package struct Copied: Sendable, Equatable {
        /// The number of versions of which something was written.
        package var versions = 0
        /// The numbers of files and bytes.
        package var tally = CopyTally()
    }
}

/// The outcome of a whole copy.
package struct CopySummary: Sendable, Equatable, Encodable {
    /// The number of assets that the target has completely, including unedited originals.
    package var assets = 0
    /// The number of versions of which something was written.
    package var versions = 0
    /// The numbers of files and bytes of those assets.
    package var tally = CopyTally()
    /// The number of refused assets.
    package var refused = 0

    package init() {}

    mutating func add(_ asset: CopiedAsset) {
        switch asset.result {
        case .copied(let copied):
            assets += 1
            versions += copied.versions
            tally.add(copied.tally)
        case .refused: refused += 1
        }
    }
}
