public import Edits
import Files
import SystemPackage

/// Renditions in a folder:
///
/// ```
/// edits/<asset>/sizes/<version>/<name>.<ext>
/// edits/<asset>/sizes/<version>/list.json              what each is
/// edits/<asset>/versions/<version>/sizes               -> ../../sizes/<version>
/// ```
///
/// Those that are made with a version are staged in its folder, and move out of it before the pointer names the version.
extension LibraryFolder {
    public func sizes(
        of version: VersionName, _ asset: AssetPath
    ) async throws(Failure) -> SizeList {
        try await blocking(asset) { folder throws(Failure) in try folder.sizeList(of: version) }
    }

    public func add(
        _ renditions: [String: StoredRendition], to version: VersionName, of asset: AssetPath,
        from staged: StagedVersion
    ) async throws(Failure) -> SizeList {
        try await blocking(asset) { folder throws(Failure) in
            try checkIdentity()
            guard try folder.isEdited() else { throw folder.missing(version) }
            return try folder.locked { () throws(Failure) in
                try folder.add(renditions, to: version, from: staging.folder(of: staged))
            }
        }
    }
}

extension AssetFolder {
    var sizes: FilePath { path.appending(SizeList.folder) }
    func sizes(of version: VersionName) -> FilePath { sizes.appending(version.description) }

    func missing(_ version: VersionName) -> Failure {
        Failure(
            .missingVersion,
            "the version \(version) of \(asset.string.debugDescription) is not kept any more, so it gets no renditions."
        )
    }

    /// Returns the list of a version's renditions; an empty one if it has none.
    func sizeList(of version: VersionName) throws(Failure) -> SizeList {
        let folder = sizes(of: version)
        let list = folder.appending(SizeList.fileName)
        guard try files.exists(list) else { return SizeList() }
        let bytes: [UInt8]
        do throws(Failure) {
            bytes = try files.read(
                SizeList.fileName, in: folder, bytesMax: SizeList.bytesMax,
                oversized: .damagedVersion)
        } catch {
            // Collected in the meantime.
            guard try !files.exists(list) else { throw error }
            return SizeList()
        }
        return try SizeList(reading: bytes, at: list.string)
    }

    /// Adds staged renditions to a version on its shelf, under the asset's lock.
    ///
    /// A crash between two steps leaves complete files and a list that names only these. Files that no list names are
    /// removed by the next call.
    fileprivate func add(
        _ renditions: [String: StoredRendition], to version: VersionName, from staged: FilePath
    ) throws(Failure) -> SizeList {
        guard let shelf = try shelf(of: version) else { throw missing(version) }
        // Of a version whose publication was interrupted.
        try settleSizes(of: version, on: shelf)
        let before = try SizeList.replaceable { () throws(Failure) in try sizeList(of: version) }
        let target = sizes(of: version)
        let change = try SizeChange(before, adding: renditions)
        if try files.makeFolder(target) {
            try files.sync(sizes)
            try files.sync(path)
        }
        if let meanwhile = change.listMeanwhile(before) {
            try write(meanwhile, to: target, by: staged)
        }
        for name in change.added {
            guard let rendition = change.list.renditions[name] else { continue }
            let file = staged.pushing(FilePath(rendition.stagedName))
            try files.sync(file)
            try files.move(file, to: target.appending(rendition.file))
        }
        if !change.added.isEmpty {
            try files.sync(target)
            try write(change.list, to: target, by: staged)
        }
        let named = Set(change.list.renditions.values.map(\.file) + [SizeList.fileName])
        for name in try files.list(target) where !named.contains(name) {
            try files.remove(target.appending(name))
        }
        try linkSizes(of: version, on: shelf)
        return change.list
    }

    /// Returns the shelf that has a version; nil if none has it.
    func shelf(of version: VersionName) throws(Failure) -> Shelf? {
        for shelf in Shelf.allCases
        where try files.exists(folder(version, on: shelf).appending(Provenance.fileName)) {
            return shelf
        }
        return nil
    }

    /// Replaces the list of a folder of renditions.
    ///
    /// - Parameters:
    ///   - staged: a folder in which the list is written before it gets its name: that of a staged version.
    ///   - name: its name there.
    private func write(
        _ list: SizeList, to folder: FilePath, by staged: FilePath,
        as name: String = SizeList.fileName
    ) throws(Failure) {
        let new = staged.appending(name)
        try files.remove(new)
        try files.write(list.encoded(), to: new)
        try files.move(new, to: folder.appending(SizeList.fileName))
        try files.sync(folder)
    }

    /// The name of a new list in the folder of its renditions, until it takes the old one's place. A crash may leave it; the next
    /// change removes it.
    private static let newListName = "list.new"

    /// Moves the renditions that were staged with a version out of its folder, before the pointer names the version.
    ///
    /// Repeatable: a crash between any two steps is finished by the next publication. Costs nothing but two looks for
    /// a version without renditions.
    func settleSizes(of version: VersionName, on shelf: Shelf) throws(Failure) {
        let (inside, target) = (
            folder(version, on: shelf).appending(SizeList.folder), sizes(of: version)
        )
        if try files.isFolder(inside) {
            try files.makeFolder(sizes)
            try files.move(inside, to: target)
        } else if try !files.exists(target) {
            return
        }
        try files.sync(sizes)
        try files.sync(path)
        try linkSizes(of: version, on: shelf)
    }

    /// The target of the link to the renditions of a version, in its folder.
    func linkToSizes(of version: Provenance) -> String { linkToSizes(of: version.version) }
    private func linkToSizes(of version: String) -> String { "../../\(SizeList.folder)/\(version)" }

    /// Makes the link to the renditions of a version, if it is missing. The link of a version never changes.
    private func linkSizes(of version: VersionName, on shelf: Shelf) throws(Failure) {
        let folder = folder(version, on: shelf)
        let link = folder.appending(SizeList.folder)
        guard try !files.exists(link) else { return }
        try files.point(link, to: linkToSizes(of: version.description))
        try files.sync(folder)
    }

    /// Removes the files of the renditions of a kept version. Its list keeps what they were, and names none before the first file goes.
    func removeSizeFiles(of version: VersionName) throws(Failure) {
        let list = try SizeList.replaceable { () throws(Failure) in try sizeList(of: version) }
        // Nothing of a damaged list can be made again.
        guard !list.isEmpty else { return try removeSizes(of: version) }
        let folder = sizes(of: version)
        try write(list.withoutFiles, to: folder, by: folder, as: Self.newListName)
        for name in try files.list(folder) where name != SizeList.fileName {
            try files.remove(folder.appending(name))
        }
    }

    /// Removes the renditions of a version, and their list.
    func removeSizes(of version: VersionName) throws(Failure) {
        let folder = sizes(of: version)
        guard try files.exists(folder) else { return }
        try emptyBin()
        try files.move(folder, to: bin)
        try files.remove(bin)
    }
}
