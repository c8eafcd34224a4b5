import Edits
import Files
import FoundationEssentials
import Glibc
import SystemPackage

/// The two kinds of versions of an asset, each with its own pointer.
enum Shelf: CaseIterable {
    case versions
    case drafts

    init(isDraft: Bool) { self = isDraft ? .drafts : .versions }

    var folder: FilePath.Component { self == .versions ? "versions" : "drafts" }

    var pointer: FilePath.Component { self == .versions ? "current" : "draft" }
}

/// The folder with the versions of one asset. Its calls block.
struct AssetFolder: Sendable {
    let asset: AssetPath
    let library: LibraryFolder
    /// `edits/<asset>`.
    let path: FilePath

    init(_ asset: AssetPath, in library: LibraryFolder) {
        (self.asset, self.library) = (asset, library)
        path = library.edits.pushing(FilePath(asset.string))
    }

    var files: FileSystem { library.files }
    var lock: FilePath { path.appending(Self.lockName) }
    var bin: FilePath { path.appending(Self.binName) }

    func pointer(_ shelf: Shelf) -> FilePath { path.appending(shelf.pointer) }
    func shelf(_ shelf: Shelf) -> FilePath { path.appending(shelf.folder) }
    func folder(_ name: VersionName, on shelf: Shelf) -> FilePath {
        self.shelf(shelf).appending(name.description)
    }
    func folder(of version: Provenance) -> FilePath {
        shelf(Shelf(isDraft: version.isDraft)).appending(version.version)
    }

    /// Runs `body` under the asset's lock. The folder must exist: see ``isEdited()``.
    ///
    /// It creates no folder, so that a job for an asset that does not exist leaves nothing behind.
    func locked<Result>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        let file = try AssetLock.acquire(lock)
        defer { withExtendedLifetime(file) {} }
        // The previous holder may have changed the folder on another machine.
        try files.refresh(path)
        for shelf in Shelf.allCases { try files.refresh(self.shelf(shelf)) }
        try files.refresh(sizes)
        return try body()
    }

    func pointed(_ shelf: Shelf) throws(Failure) -> VersionName? {
        let pointer = pointer(shelf)
        guard let target = try files.linkTarget(pointer) else { return nil }
        guard let name = FilePath(target).lastComponent.flatMap({ VersionName($0.string) }) else {
            throw Failure(
                .ioFailure,
                "\(pointer) points to \(target.debugDescription), which is not the name of a version. "
                    + "Another program wrote it; restore or remove the link.")
        }
        return name
    }

    /// Sets a pointer. A link cannot be overwritten, so a new one is created and renamed over the old one.
    ///
    /// - Parameter link: the path at which the new link is created: in staging, so that a sweep removes the remains
    ///   after a crash.
    func point(_ shelf: Shelf, to name: VersionName, by link: FilePath) throws(Failure) {
        try files.remove(link)
        try files.point(link, to: "\(shelf.folder)/\(name)")
        try files.move(link, to: pointer(shelf))
        try files.sync(path)
    }

    /// Syncs a shelf and the path to it. With an asset's first version each folder above may be new, created by
    /// this process or by a job that died.
    ///
    /// Each folder is synced even if it may be old, since this process cannot know what another one has not synced
    /// yet. Later versions need not sync the path again.
    func settle(_ shelf: Shelf) throws(Failure) {
        try files.sync(self.shelf(shelf))
        guard try (pointed(.versions)?.revision ?? 0) <= 1 else { return }
        var folder = path
        try files.sync(folder)
        while folder != library.edits, folder.starts(with: library.edits) {
            folder.removeLastComponent()
            try files.sync(folder)
        }
    }
}

/// Reading versions.
extension AssetFolder {
    func provenance(in folder: FilePath) throws(Failure) -> Provenance {
        try Provenance(
            reading: files.read(
                Provenance.fileName, in: folder, bytesMax: Provenance.fileBytesMax),
            at: folder.appending(Provenance.fileName).string)
    }

    /// Returns the provenance of a version on its shelf.
    ///
    /// - Throws: `damagedVersion` if it is the provenance of another version; the failures of `provenance(in:)`.
    private func provenance(of name: VersionName, on shelf: Shelf) throws(Failure) -> Provenance {
        let folder = folder(name, on: shelf)
        let version = try provenance(in: folder)
        guard version.version == name.description else {
            throw Failure(
                .damagedVersion,
                "the provenance in \(folder) names the version \(version.version). Restore it from a backup."
            )
        }
        return version
    }

    func provenance(of name: VersionName) throws(Failure) -> Provenance? {
        try files.exists(folder(name, on: .versions)) ? provenance(of: name, on: .versions) : nil
    }

    func state() throws(Failure) -> AssetState {
        let (current, draft) = (try pointed(.versions), try pointed(.drafts))
        let version = try current.map { name throws(Failure) in
            try provenance(of: name, on: .versions)
        }
        return AssetState(
            current: version,
            draft: try draft.map { name throws(Failure) in try provenance(of: name, on: .drafts) },
            confirmed: try version.flatMap { version throws(Failure) in
                try confirmation(of: version)
            })
    }

    func history() throws(Failure) -> [Provenance] {
        var walk = HistoryWalk(from: try pointed(.versions))
        while let name = walk.next { walk.add(try provenance(of: name)) }
        return walk.versions
    }

    /// The link among the versions that states which version an edit without effect confirmed last, and when that edit
    /// arrived. No version is made for such an edit.
    ///
    /// The link names the version, so it does not apply to the next one and need not be removed. Its path cannot be
    /// the folder of another asset: see ``checkEntries()``.
    static let confirmedName = "confirmed"
    /// The name of a new link before it is renamed. A crash may leave it; the next confirmation removes
    /// it.
    static let newConfirmedName = "confirmed.new"

    /// Returns whether an entry of a shelf is the link, or the remains of one after a crash.
    static func isConfirmation(_ name: String, on shelf: Shelf) -> Bool {
        shelf == .versions && (name == confirmedName || name == newConfirmedName)
    }

    /// Returns the arrival of the latest edit that confirmed a version; nil if there was none.
    func confirmation(of version: Provenance) throws(Failure) -> Int? {
        let link = shelf(.versions).appending(Self.confirmedName)
        guard let target = try files.linkTarget(link) else { return nil }
        let fields = target.split(separator: ":", omittingEmptySubsequences: false)
        guard fields.count == 2, VersionName(String(fields[0])) != nil, let arrival = Int(fields[1])
        else {
            throw Failure(
                .ioFailure,
                "\(link) points to \(target.debugDescription); expected is the name of a version, a colon, and a time in "
                    + "µs. Another program wrote it; remove the link.")
        }
        return fields[0] == version.version ? arrival : nil
    }
}

/// Removing versions.
extension AssetFolder {
    /// Removes the drafts that a version made obsolete when it was published: the draft that it published, or
    /// the drafts that it replaced.
    func removeObsoleteDrafts(after version: Provenance) throws(Failure) {
        if version.isDraft { return try removeDrafts(but: version.version) }
        if let draft = version.draft.flatMap(VersionName.init) { try removeDraft(draft) }
    }

    func removeDrafts(but kept: String?) throws(Failure) {
        for name in try versionNames(on: .drafts) where name != kept {
            try removeVersion(shelf(.drafts).appending(name))
        }
    }

    func removeDraft(_ draft: VersionName) throws(Failure) {
        if try pointed(.drafts) == draft {
            try files.remove(pointer(.drafts))
            try files.sync(path)
        }
        let folder = folder(draft, on: .drafts)
        if try files.exists(folder) { try removeVersion(folder) }
    }

    /// Removes a version's renditions and its folder. Each disappears at once; the remains after a crash are where the
    /// next removal or collection finds them.
    func removeVersion(_ folder: FilePath) throws(Failure) {
        if let name = folder.lastComponent.flatMap({ VersionName($0.string) }) {
            try removeSizes(of: name)
        }
        try emptyBin()
        try files.move(folder, to: bin)
        try files.remove(bin)
    }

    /// Removes the remains of a removal that crashed.
    ///
    /// - Throws: `invalidValue` if there is an asset named `bin`; `ioFailure`.
    func emptyBin() throws(Failure) {
        guard try isBin(bin) else {
            throw Failure(
                .invalidValue,
                "\(bin) has versions of another asset, so nothing of \(asset.string.debugDescription) can be "
                    + "removed. Move the folder \(asset)/\(Self.binName) of the originals, and this one, elsewhere."
            )
        }
        try files.remove(bin)
    }
}

/// The names of an asset's own entries, and the rules that distinguish them from other entries.
///
/// The folder of an asset can also be a folder of assets: `2024` was once a photo and is now an album with
/// `2024/drafts/p1.jpg` in it. Both have entries in `edits/2024`. So an entry is recognised by its kind, and a
/// version also by its name. If the two would still collide, the second asset is refused.
extension AssetFolder {
    static let ownNames: Set<String> = [
        "current", "draft", "versions", "drafts", SizeList.folder, lockName, binName,
    ]
    static let lockName = "lock"
    static let binName = "bin"

    /// Returns whether an asset was ever edited: it has a pointer, or a version that a crash left without one.
    ///
    /// A lock alone does not count: earlier releases created one for each asset that a job named.
    func isEdited() throws(Failure) -> Bool {
        guard try files.isFolder(path) else { return false }
        for shelf in Shelf.allCases where try files.linkTarget(pointer(shelf)) != nil {
            return true
        }
        for shelf in Shelf.allCases {
            for name in try versionNames(on: shelf)
            where try files.exists(
                self.shelf(shelf).appending(name).appending(Provenance.fileName))
            {
                return true
            }
        }
        return false
    }

    /// Returns the entries of a shelf whose names are names of versions.
    ///
    /// Other entries are left alone, because they may belong to another asset.
    func versionNames(on shelf: Shelf) throws(Failure) -> [String] {
        try files.list(self.shelf(shelf)).filter { VersionName($0) != nil }
    }

    /// Refuses an asset whose entries would collide with those of another asset.
    ///
    /// It costs nothing for an edited asset, and for most others one check for a folder that does not exist.
    ///
    /// - Throws: `invalidValue`, `ioFailure`.
    func checkEntries() throws(Failure) {
        guard try !isEdited() else { return }
        var name = FilePath(asset.string)
        while let own = name.lastComponent?.string, !name.removingLastComponent().isEmpty {
            name.removeLastComponent()
            let above = try AssetPath(name.string)
            guard Self.ownNames.contains(own), try AssetFolder(above, in: library).isEdited() else {
                continue
            }
            throw Failure(
                .invalidValue,
                "the asset \(asset.string.debugDescription) cannot be edited: \(above.string.debugDescription) is "
                    + "an asset with versions, and \(own.debugDescription) is the name of an entry of its own. Put the "
                    + "photo into a folder of another name.")
        }
        guard try files.isFolder(path) else { return }
        for name in try files.list(path).filter(Self.ownNames.contains) where try !isOwn(name) {
            throw Failure(
                .invalidValue,
                "the asset \(asset.string.debugDescription) cannot be edited: \(path.appending(name)) belongs to "
                    + "another asset, in a folder of this one's name. Give the photo another name, or move that one's "
                    + "original and folder elsewhere.")
        }
    }

    /// Returns whether an entry has the kind of an asset's own entry with that name.
    private func isOwn(_ name: String) throws(Failure) -> Bool {
        let path = path.appending(name)
        guard try !isLeftover(path) else { return true }
        switch name {
        case Self.lockName: return try !files.isFolder(path)
        case "versions", "drafts":
            return try files.list(path).allSatisfy {
                VersionName($0) != nil
                    || Self.isConfirmation($0, on: name == "drafts" ? .drafts : .versions)
            }
        case SizeList.folder: return try files.list(path).allSatisfy { VersionName($0) != nil }
        case Self.binName: return try isBin(path)
        default: return try files.linkTarget(path) != nil
        }
    }

    /// Returns whether an entry is the remains of earlier releases for an asset that a job named: a folder with
    /// only a lock.
    private func isLeftover(_ path: FilePath) throws(Failure) -> Bool {
        guard try files.isFolder(path), try files.list(path) == [Self.lockName] else {
            return false
        }
        return try !files.isFolder(path.appending(Self.lockName))
    }

    /// Makes the folder of an asset that gets its first version, if no other asset needs it. Removes the remains of
    /// earlier releases where its pointers and its lock will be.
    func make() throws(Failure) {
        try checkEntries()
        try files.makeFolder(path)
        for name in Shelf.allCases.map(\.pointer.string) + [Self.lockName] {
            let path = path.appending(name)
            if try isLeftover(path) { try files.remove(path) }
        }
    }

    /// Returns whether a folder is the remains of a version after a crash, and not of an asset named `bin`.
    private func isBin(_ path: FilePath) throws(Failure) -> Bool {
        for name in try files.list(path) where try files.isFolder(path.appending(name)) {
            guard [Content.baseFolder, Content.previewsFolder, SizeList.folder].contains(name)
            else { return false }
        }
        return true
    }
}

/// The lock of one asset. The kernel releases it when its holder dies.
enum AssetLock {
    /// The longest wait: far longer than the few renames and fsyncs that are done under the lock.
    static let waitMax: Duration = .seconds(30)
    private static let pollMicroseconds: UInt32 = 5_000

    /// Waits for a lock and acquires it.
    ///
    /// - Parameter isFolder: whether `path` is a folder, which is then its own lock.
    /// - Returns: the lock file. The lock is held until the file is closed.
    static func acquire(_ path: FilePath, isFolder: Bool = false) throws(Failure) -> OpenFile {
        let mode = isFolder ? O_RDONLY | O_DIRECTORY : O_RDWR | O_CREAT
        let file = try FileSystem.open(path, mode, "opening the lock")
        let end = ContinuousClock.now + waitMax
        while try !FileSystem.describing("locking", path, file.lock()) {
            guard ContinuousClock.now < end else {
                throw Failure(
                    .ioFailure,
                    "the lock \(path) was not free within \(waitMax); another process holds it. "
                        + "The job is retried.")
            }
            usleep(pollMicroseconds)
        }
        return file
    }
}
