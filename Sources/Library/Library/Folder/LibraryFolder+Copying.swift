import Edits
import Files
import FoundationEssentials
import Glibc
import SystemPackage

/// Copies of versions and originals from another library.
extension LibraryFolder {
    /// Adds an original. It is written under a temporary name, which a crash may leave and the next copy removes.
    func copy(
        original source: OpenFile, _ wanted: StoredDigest, of asset: AssetPath
    ) throws(Failure) {
        let path = originals.pushing(FilePath(asset.string))
        let folder = path.removingLastComponent()
        try makeFolder(forOriginals: folder)
        // One name per original, of a length that always fits.
        let unfinished = folder.appending(
            OriginalsListing.copyPrefix + String(JSONValue.string(asset.string).digest.prefix(32)))
        try files.faults?.reach("copy", unfinished)
        // Locked until the file has its final name, so that a second copy to this folder does not rename the file
        // of the first.
        let target = try lockedFile(unfinished)
        try FileSystem.describing("emptying", unfinished, target.truncate())
        let found: (hex: String, bytes: Int)
        do throws(Failure) {
            found = try FileCopy.copy(source, to: target, bytesMax: wanted.bytes)
            guard found.hex == wanted.sha256, found.bytes == wanted.bytes else {
                throw Failure(
                    .ioFailure,
                    "\(source.name) changed while it was copied: its SHA-256 was \(wanted.sha256), and is \(found.hex). "
                        + "Copy again.")
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

    /// The most times that an unfinished file is opened again because another copy has finished it.
    private static let openingsMax = 100

    /// Opens an unfinished file exclusively for this process.
    ///
    /// - Throws: `ioFailure` while another process writes the file.
    func lockedFile(_ path: FilePath) throws(Failure) -> OpenFile {
        for _ in 0..<Self.openingsMax {
            let file = try FileSystem.describing(
                "making the file", path,
                OpenFile(opening: path.string, O_RDWR | O_CREAT | O_NOFOLLOW))
            guard try FileSystem.describing("locking", path, file.lock()) else { break }
            // Between the two calls the other copy may have moved the file to its final name.
            if try FileSystem.describing("reading the status of", path, file.isAt(path.string)) {
                return file
            }
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

    /// Compares a version on its shelf with the version to copy.
    ///
    /// - Returns: the numbers of existing files; nil if the version is not there.
    /// - Throws: `damagedVersion` if it is another version, or one of its files differs from its record.
    func shelved(
        _ copy: VersionCopy, _ text: [UInt8], of asset: AssetPath
    ) throws(Failure) -> CopyTally? {
        let folder = folder(copy.name, on: copy.shelf, of: asset)
        guard try files.exists(folder) else { return nil }
        let found = try files.read(
            Provenance.fileName, in: folder, bytesMax: Provenance.fileBytesMax)
        guard found == text else {
            throw Failure(
                .damagedVersion,
                "\(folder) is another version than the source's of this name. Move it away, and copy again."
            )
        }
        var tally = CopyTally()
        for file in copy.files.map(\.recorded) {
            let digest = try files.digest(of: file.name, in: folder)
            try file.check(
                StoredDigest(sha256: digest.hex, bytes: digest.bytes),
                folder.pushing(FilePath(file.name)).string)
            tally.skipped(digest.bytes)
        }
        tally.skipped(text.count)
        return tally
    }

    /// Links the files that a staged copy shares with earlier versions.
    func link(
        _ copy: VersionCopy, of asset: AssetPath, into staged: StagedVersion
    ) throws(Failure) {
        for file in copy.files {
            guard let link = file.link else { continue }
            // The target of a link is a published version, because drafts are copied last.
            let source = folder(link.version, on: .versions, of: asset)
                .pushing(FilePath(link.file))
            try staging.link(source, as: file.recorded.name, into: staged)
        }
    }

    /// Syncs a staged copy and moves it to its shelf.
    func shelve(
        _ copy: VersionCopy, _ text: [UInt8], of asset: AssetPath, from staged: StagedVersion
    ) throws(Failure) {
        let folder = staging.folder(of: staged)
        if let content = copy.version.content {
            for name in content.fileNames { try files.sync(folder.pushing(FilePath(name))) }
            for name in content.folderNames { try files.sync(folder.appending(name)) }
        }
        try files.write(text, to: folder.appending(Provenance.fileName))
        try files.sync(folder)
        if try !isEdited(asset) {
            try checkEntries(of: asset)
            try files.makeFolder(self.folder(of: asset))
            try removeLeftovers(of: asset)
        }
        try locked(asset) { () throws(Failure) in
            let target = self.folder(copy.name, on: copy.shelf, of: asset)
            try files.makeFolder(shelf(copy.shelf, of: asset))
            // Another copy may have finished first.
            if try shelved(copy, text, of: asset) == nil { try files.move(folder, to: target) }
            try settle(copy.shelf, of: asset)
        }
        try staging.discard(staged)
    }

    /// Makes the versions of a history those of the asset, by setting its pointers under its lock.
    func advance(
        _ asset: AssetPath, to history: KeptHistory
    ) throws(Failure) -> HeadAdvance {
        guard history.current != nil || history.draft != nil else { return .same }
        return try locked(asset) { () throws(Failure) in
            let draft = try pointed(.drafts, of: asset)
            let advance = history.over(
                current: try pointed(.versions, of: asset)?.description, draft: draft?.description)
            guard advance == .advanced else {
                // A crash may have happened between a move and its sync.
                try files.sync(folder(of: asset))
                return advance
            }
            let copies = try history.copies()
            for copy in copies
            where try !files.exists(folder(copy.name, on: copy.shelf, of: asset)) {
                throw Failure(
                    .ioFailure,
                    "\(folder(copy.name, on: copy.shelf, of: asset)) was removed while \(asset) was copied: minilab "
                        + "gc does "
                        + "not know yet that it is needed. Copy again, without gc.")
            }
            for copy in copies
            where copy.version == history.current || copy.version == history.draft {
                try settle(copy.shelf, of: asset)
                let link = staging.folder(of: Self.staged(copy, of: asset))
                try files.makeFolder(link.removingLastComponent())
                try point(copy.shelf, of: asset, to: copy.name, by: link)
            }
            if let kept = history.draft {
                try removeObsoleteDrafts(after: kept, on: .drafts, of: asset)
            } else if let draft {
                try removeDraft(draft, of: asset)
            }
            return .advanced
        }
    }

    /// The folder of staging for copies. It is not a valid name of a queue.
    static let copyQueue = ".copy"

    /// Returns the staged version to which a version is copied before it is moved to its shelf.
    static func staged(_ copy: VersionCopy, of asset: AssetPath) -> StagedVersion {
        StagedVersion(
            queue: copyQueue, job: String(JSONValue.string(asset.string).digest.prefix(32)),
            fence: copy.name.description)
    }
}

extension VersionCopy {
    var shelf: Shelf { version.isDraft ? .drafts : .versions }
}
