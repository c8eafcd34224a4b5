public import Edits
import Files
import FoundationEssentials
import SystemPackage

extension LibraryFolder {
    /// Makes a staged version current, or the draft, if the version it was made from is still current.
    ///
    /// Idempotent: if it is called again after a crash at any point, it detects the finished steps and completes
    /// the rest.
    ///
    /// A version whose job is in the asset's history is not published again: see ``PublishedJob``.
    ///
    /// 1. The staged folder is moved to its shelf, among the asset's versions or drafts.
    ///    Each folder on the path is synced.
    /// 2. The pointer is replaced by one that points to it.
    /// 3. The draft that it published, or the one that it replaces, is removed.
    ///
    /// All steps happen under the asset's lock, which the kernel releases when its holder dies.
    public func publish(
        _ name: VersionName, of asset: AssetPath, from staged: StagedVersion
    ) throws(Failure) -> Publication {
        // Where the library is not, a version would count as lost.
        try checkIdentity()
        if try !isEdited(asset) {
            // The first version: the sealed version was made from an original, so the asset gets a folder.
            let sealed = staging.folder(of: staged).appending(Provenance.fileName)
            guard try files.exists(sealed) else { return .lost }
            try checkEntries(of: asset)
            try files.makeFolder(folder(of: asset))
            try removeLeftovers(of: asset)
        }
        let publication: Publication
        do {
            publication = try locked(asset) { () throws(Failure) in
                try publishLocked(name, of: asset, from: staged)
            }
        } catch {
            // Release the lock, so that neither the worker that tries next nor a later sweep waits for this one.
            try staging.release(staged)
            throw error
        }
        switch publication {
        case .published, .alreadyPublished, .publishedBefore: try staging.release(staged)
        // The caller may still read the staged version, and discards it.
        case .conflict, .lost: break
        }
        return publication
    }

    private func publishLocked(
        _ name: VersionName, of asset: AssetPath, from staged: StagedVersion
    ) throws(Failure) -> Publication {
        let source = staging.folder(of: staged)
        guard let found = try find(name, of: asset, or: source) else { return .lost }
        let version = try provenance(in: found.folder)
        // A name from Redis must not become the name of a version that differs from it.
        guard version.version == name.description else { return .lost }
        let shelf: Shelf = version.isDraft ? .drafts : .versions
        let state = try state(of: asset)
        let isShown = try pointed(shelf, of: asset) == name
        var isDone = isShown
        if !isDone, shelf == .versions, found.isShelved {
            isDone = try isAncestor(name, of: state.current, asset)
        }
        guard !isDone else {
            // A crash may have happened between a move and its sync.
            try settle(shelf, of: asset)
            try files.sync(folder(of: asset))
            if isShown { try removeObsoleteDrafts(after: version, on: shelf, of: asset) }
            return .alreadyPublished
        }
        switch try publishedBefore(version.job, of: asset, state) {
        case .kept(let before): return try removeDuplicate(found, of: asset, before.version)
        case .gone(let before): return try removeDuplicate(found, of: asset, before)
        case nil: break
        }
        guard state.current?.version == version.parent else {
            if found.isShelved { try removeVersion(found.folder, of: asset) }
            return .conflict(current: state.current.flatMap { VersionName($0.version) })
        }
        // Of two drafts based on one version the one that arrived later is kept, whichever was rendered first.
        if let shown = shelf == .drafts ? state.draft : state.current,
            let own = version.author.arrival,
            (shelf == .drafts ? shown.author.arrival ?? 0 : state.arrival) > own
        {
            if found.isShelved { try removeVersion(found.folder, of: asset) }
            return .conflict(current: VersionName(shown.version))
        }
        if !found.isShelved {
            try files.makeFolder(self.shelf(shelf, of: asset))
            try files.move(source, to: folder(name, on: shelf, of: asset))
        }
        try settle(shelf, of: asset)
        try point(shelf, of: asset, to: name, by: source)
        try removeObsoleteDrafts(after: version, on: shelf, of: asset)
        return .published
    }

    /// Removes a version whose job has already made another one.
    private func removeDuplicate(
        _ found: (folder: FilePath, isShelved: Bool), of asset: AssetPath, _ before: String
    ) throws(Failure) -> Publication {
        if found.isShelved {
            try removeVersion(found.folder, of: asset)
        } else {
            try files.remove(found.folder)
        }
        return .publishedBefore(before)
    }

    /// Syncs a shelf and the path to it. With an asset's first version each folder above may be new, created by
    /// this process or by a job that died.
    ///
    /// Each folder is synced even if it may be old, since this process cannot know what another one has not synced
    /// yet. Later versions need not sync the path again.
    func settle(_ shelf: Shelf, of asset: AssetPath) throws(Failure) {
        try files.sync(self.shelf(shelf, of: asset))
        guard try (current(of: asset)?.revision ?? 0) <= 1 else { return }
        var folder = folder(of: asset)
        try files.sync(folder)
        let edits = root.appending("edits")
        while folder != edits, folder.starts(with: edits) {
            folder.removeLastComponent()
            try files.sync(folder)
        }
    }

    private func find(
        _ name: VersionName, of asset: AssetPath, or staged: FilePath
    ) throws(Failure) -> (folder: FilePath, isShelved: Bool)? {
        for shelf in Shelf.allCases where try files.exists(folder(name, on: shelf, of: asset)) {
            return (folder(name, on: shelf, of: asset), true)
        }
        // A link is the remains of step 2 after a crash.
        return try files.isFolder(staged) ? (staged, false) : nil
    }

    /// The most versions that are read in order to determine whether one was current. That is needed only for a
    /// version on its shelf whose job died and that is not listed any more.
    private static let ancestorsMax = 1000

    /// Returns whether `current` was made on top of `name`, after any number of edits.
    ///
    /// - Returns: true also if that is not determined within the bound, because the answer false would remove the
    ///   version.
    private func isAncestor(
        _ name: VersionName, of current: Provenance?, _ asset: AssetPath
    ) throws(Failure) -> Bool {
        var next = current
        // Collected versions are older than kept ones.
        for _ in 0..<Self.ancestorsMax {
            guard let version = next, version.revision >= name.revision else { return false }
            if version.version == name.description { return true }
            let listed = version.publishedJobs?.versions
            if listed?.contains(name.description) == true { return true }
            next = try version.parent.flatMap(VersionName.init).flatMap { name throws(Failure) in
                try provenance(of: name, asset)
            }
        }
        return next != nil
    }
}
