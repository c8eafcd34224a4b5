package import Edits
package import Files
import FoundationEssentials
import Glibc
import SystemPackage

/// Copies of versions and originals from another library.
extension LibraryFolder: CopyableLibrary {
    /// The most originals of a page.
    private static let originalsMax = 1_000

    package func originals(
        _ page: (OriginalsPage) async throws(Failure) -> Void
    ) async throws(Failure) {
        var listing = OriginalsListing(originals, files)
        while true {
            let here = listing
            let (next, found) = try await offPool { () throws(Failure) in
                var listing = here
                let found = try listing.next(atMost: Self.originalsMax)
                return (listing, found)
            }
            guard let found else { return }
            listing = next
            try await page(found)
        }
    }

    package func isEdited(_ asset: AssetPath) async throws(Failure) -> Bool {
        try await blocking(asset) { folder throws(Failure) in try folder.isEdited() }
    }

    package func sweepCopies() async throws(Failure) {
        try await offPool { () throws(Failure) in
            for staged in try staging.sweepable(in: Self.copyQueue) {
                _ = try staging.sweep(staged)
            }
        }
    }

    /// Writes the original under a temporary name, which a crash may leave and the next copy removes.
    package func copy(
        original source: OpenFile, _ wanted: StoredDigest, of asset: AssetPath
    ) async throws(Failure) {
        try await offPool { () throws(Failure) in
            let path = originals.pushing(FilePath(asset.string))
            let folder = path.removingLastComponent()
            try makeFolder(forOriginals: folder)
            // One name per original, of a length that always fits.
            let unfinished = folder.appending(OriginalsListing.copyPrefix + Self.shortName(asset))
            try files.faults?.reach("copy", unfinished)
            // Locked until the file has its final name, so that a second copy to this folder does not rename the
            // file of the first.
            let target = try lockedFile(unfinished)
            try target.cut(to: 0)
            do throws(Failure) {
                let found = StoredDigest(
                    try FileCopy.copy(source, to: target, bytesMax: wanted.bytes))
                guard found == wanted else {
                    throw Failure(
                        .ioFailure,
                        "\(source.name) changed while it was copied: its SHA-256 was \(wanted.sha256), and is "
                            + "\(found.sha256). Copy again.")
                }
                try files.sync(unfinished)
                try files.moveToFreeName(unfinished, to: path)
            } catch {
                // A simulated crash must not remove the file, since a real one could not. The next copy removes it.
                if files.faults == nil { try files.remove(unfinished) }
                throw error
            }
            try files.sync(folder)
            withExtendedLifetime(target) {}
        }
    }

    /// Builds the version in staging and moves the complete folder to its shelf.
    package func copy(
        _ version: VersionCopy, of asset: AssetPath, from source: any CopyableLibrary
    ) async throws(Failure) -> CopyTally {
        let text = try await source.provenanceText(of: version, asset)
        let shelved = try await blocking(asset) { folder throws(Failure) in
            try folder.shelved(version, text)
        }
        if let shelved { return shelved }
        let staged = Self.staged(version, of: asset)
        do throws(Failure) {
            var tally = CopyTally()
            try await offPool { () throws(Failure) in _ = try staging.begin(staged) }
            for file in version.files {
                if let link = file.link {
                    // The target of a link is a published version, because drafts are copied last.
                    try await self.link(
                        .layer(asset, version: link.version, isDraft: false, name: link.file),
                        as: file.recorded.name, into: staged)
                    tally.skipped(file.recorded.bytes ?? 0)
                    continue
                }
                let open = try await source.open(version.file(file.recorded.name, of: asset))
                let found = try await offPool { () throws(Failure) in
                    StoredDigest(
                        try staging.copy(open, as: file.recorded.name, into: staged, bytesMax: .max)
                    )
                }
                try file.recorded.check(found, open.name)
                tally.copied(found.bytes)
            }
            try await blocking(asset) { folder throws(Failure) in
                try staging.complete(staged, version.version.content, text)
                try folder.shelve(version, text, from: staging.folder(of: staged))
                try staging.discard(staged)
            }
            tally.copied(text.count)
            return tally
        } catch {
            do throws(Failure) {
                try await discard(staged)
            } catch {
                // The first failure is more informative. The next copy removes the remaining files.
            }
            throw error
        }
    }

    /// Sets the pointers of the asset under its lock.
    package func advance(
        _ asset: AssetPath, to history: KeptHistory
    ) async throws(Failure) -> HeadAdvance {
        guard history.current != nil || history.draft != nil else { return .same }
        return try await blocking(asset) { folder throws(Failure) in
            try folder.locked { () throws(Failure) in try folder.advance(to: history) }
        }
    }

    /// The most times that an unfinished file is opened again because another copy has finished it.
    private static let openingsMax = 100

    /// Opens an unfinished file exclusively for this process.
    ///
    /// - Throws: `ioFailure` while another process writes the file.
    func lockedFile(_ path: FilePath) throws(Failure) -> OpenFile {
        for _ in 0..<Self.openingsMax {
            switch try FileSystem.lock(path, O_RDWR | O_CREAT | O_NOFOLLOW) {
            case .ours(let file): return file
            // Between the two calls the other copy may have moved the file to its final name.
            case .none: continue
            case .others: break
            }
            break
        }
        throw Failure(
            .ioFailure,
            "\(path) is being written by another copy to this folder. Wait until that has ended, and copy again."
        )
    }

    /// Creates a folder below the originals and syncs it and the folders above it.
    private func makeFolder(forOriginals folder: FilePath) throws(Failure) {
        let isNew = try files.makeFolder(folder)
        guard let real = realPath(folder), real.starts(with: originals) else {
            throw Failure(
                .assetOutsideLibrary,
                "\(folder) leads out of the originals through a symbolic link. Put the folder itself below \(originals)."
            )
        }
        guard isNew else { return }
        var above = folder
        while above != originals, above.starts(with: originals) {
            above.removeLastComponent()
            try files.sync(above)
        }
    }

    /// The folder of staging for copies. It is not a valid name of a queue.
    static let copyQueue = ".copy"

    /// Returns the staged version to which a version is copied before it is moved to its shelf.
    static func staged(_ copy: VersionCopy, of asset: AssetPath) -> StagedVersion {
        StagedVersion(queue: copyQueue, job: shortName(asset), fence: copy.name.description)
    }

    static func shortName(_ asset: AssetPath) -> String {
        String(JSONValue.string(asset.string).digest.prefix(32))
    }
}

extension AssetFolder {
    private func folder(of copy: VersionCopy) -> FilePath { folder(of: copy.version) }

    /// Compares a version on its shelf with the version to copy.
    ///
    /// - Returns: the numbers of existing files; nil if the version is not there.
    /// - Throws: `damagedVersion` if it is another version, or one of its files differs from its record.
    fileprivate func shelved(_ copy: VersionCopy, _ text: [UInt8]) throws(Failure) -> CopyTally? {
        let folder = folder(of: copy)
        guard try files.exists(folder) else { return nil }
        let found = try files.read(
            Provenance.fileName, in: folder, bytesMax: Provenance.fileBytesMax)
        guard found == text else { throw copy.clash(at: folder.string) }
        var tally = CopyTally()
        for file in copy.files.map(\.recorded) {
            let digest = StoredDigest(try files.digest(of: file.name, in: folder))
            try file.check(digest, folder.pushing(FilePath(file.name)).string)
            tally.skipped(digest.bytes)
        }
        tally.skipped(text.count)
        return tally
    }

    /// Moves a complete staged copy to its shelf.
    fileprivate func shelve(
        _ copy: VersionCopy, _ text: [UInt8], from source: FilePath
    ) throws(Failure) {
        if try !isEdited() { try make() }
        try locked { () throws(Failure) in
            let shelf = Shelf(isDraft: copy.version.isDraft)
            try files.makeFolder(self.shelf(shelf))
            // Another copy may have finished first.
            if try shelved(copy, text) == nil { try files.move(source, to: folder(of: copy)) }
            try settle(shelf)
        }
    }

    fileprivate func advance(to history: KeptHistory) throws(Failure) -> HeadAdvance {
        let draft = try pointed(.drafts)
        let advance = history.over(
            current: try pointed(.versions)?.description, draft: draft?.description)
        guard advance == .advanced else {
            // A crash may have happened between a move and its sync.
            try files.sync(path)
            return advance
        }
        let copies = try history.copies()
        for copy in copies where try !files.exists(folder(of: copy)) {
            throw Failure(
                .ioFailure,
                "\(folder(of: copy)) was removed while \(asset) was copied: minilab gc does not know yet that it is "
                    + "needed. Copy again, without gc.")
        }
        for copy in copies where copy.version == history.current || copy.version == history.draft {
            let shelf = Shelf(isDraft: copy.version.isDraft)
            try settle(shelf)
            let link = library.staging.folder(of: LibraryFolder.staged(copy, of: asset))
            try files.makeFolder(link.removingLastComponent())
            try point(shelf, to: copy.name, by: link)
        }
        if let kept = history.draft {
            try removeObsoleteDrafts(after: kept)
        } else if let draft {
            try removeDraft(draft)
        }
        return .advanced
    }
}
