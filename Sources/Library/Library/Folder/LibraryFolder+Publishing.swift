public import Edits
import Files
public import FoundationEssentials
import SystemPackage

extension LibraryFolder {
    /// Publishes in three steps, under the asset's lock, which the kernel releases when its holder dies:
    ///
    /// 1. The staged folder is moved to its shelf, among the asset's versions or drafts. Each folder on the path is
    ///    synced.
    /// 2. The pointer is replaced by one that points to it.
    /// 3. The draft that it published, or the one that it replaces, is removed.
    public func publish(
        _ name: VersionName, of asset: AssetPath, from staged: StagedVersion
    ) async throws(Failure) -> Publication {
        try await blocking(asset) { folder throws(Failure) in
            // Where the library is not, a version would count as lost.
            try checkIdentity()
            if try !folder.isEdited() {
                // The first version: the sealed version was made from an original, so the asset gets a folder.
                let sealed = staging.folder(of: staged).appending(Provenance.fileName)
                guard try files.exists(sealed) else { return .lost }
                try folder.make()
            }
            let publication: Publication
            do throws(Failure) {
                publication = try folder.locked { () throws(Failure) in
                    try folder.publish(name, from: staging.folder(of: staged))
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
    }

    public func confirm(
        _ version: Provenance, of asset: AssetPath, at arrival: Int
    ) async throws(Failure) -> Bool {
        try await blocking(asset) { folder throws(Failure) in
            try folder.locked { () throws(Failure) in
                let shelf = folder.shelf(.versions)
                switch ConfirmDecision(
                    version, current: try folder.pointed(.versions)?.description,
                    known: try folder.confirmation(of: version), arrival: arrival)
                {
                case .isReplaced: return false
                case .isKnown: break
                case .record:
                    let link = shelf.appending(AssetFolder.newConfirmedName)
                    try files.remove(link)
                    try files.point(link, to: "\(version.version):\(arrival)")
                    try files.move(link, to: shelf.appending(AssetFolder.confirmedName))
                }
                // Also a known arrival, because a crash may have happened between a move and its sync.
                try files.sync(shelf)
                return true
            }
        }
    }

    public func discardDraft(
        of asset: AssetPath, _ name: VersionName?
    ) async throws(Failure) -> VersionName? {
        try await blocking(asset) { folder throws(Failure) in
            guard try folder.isEdited() else {
                _ = try original(of: asset)
                return nil
            }
            return try folder.locked { () throws(Failure) in
                guard let draft = try folder.pointed(.drafts) else {
                    try folder.removeDrafts(but: nil)
                    return nil
                }
                guard name == draft else { return nil }
                try folder.removeDraft(draft)
                return draft
            }
        }
    }

    /// Removes each version by one `rename` under the asset's lock, the oldest first. After a crash between any
    /// two steps each version is complete or absent. Kept versions do not depend on removed ones, because each
    /// version has all its layers in its own folder. Undo and redo to a removed version fail with `missingVersion`.
    public func collect(
        _ asset: AssetPath, keeping retention: Retention, now: Date, isDryRun: Bool = false
    ) async throws(Failure) -> Collected {
        try await blocking(asset) { folder throws(Failure) in
            guard try folder.isEdited() else { return Collected() }
            return try folder.locked { () throws(Failure) in
                let history = try folder.history()
                let kept = retention.keptCount(of: history.map(\.author.date), now: now)
                let versions = history.dropFirst(kept).reversed()
                let orphans = try folder.orphans(besides: history, retention, now: now)
                let folders = versions.map(folder.folder(of:)) + orphans
                let sizes = try folder.collectableSizes(history, kept: kept, retention, now: now)
                let going = folders.compactMap(\.lastComponent).map(folder.sizes.appending(_:))
                let collected = Collected(
                    versions: versions.map(\.version),
                    orphans: orphans.compactMap(\.lastComponent?.string),
                    renditions: (sizes.ofNone + sizes.ofKept).map(\.description),
                    bytes: try files.freedBytes(
                        in: folders + going + (sizes.ofNone + sizes.ofKept).map(folder.sizes(of:))))
                if !isDryRun {
                    for path in folders { try folder.removeVersion(path) }
                    for name in sizes.ofKept { try folder.removeSizeFiles(of: name) }
                    for name in sizes.ofNone { try folder.removeSizes(of: name) }
                    // Removes the remains of a collection that crashed.
                    try folder.emptyBin()
                }
                return collected
            }
        }
    }
}

extension AssetFolder {
    /// Publishes the version at `source`, or finishes a publication, under the asset's lock.
    fileprivate func publish(
        _ name: VersionName, from source: FilePath
    ) throws(Failure) -> Publication {
        guard let found = try find(name, or: source) else { return .lost }
        let version = try provenance(in: found.folder)
        // A name from Redis must not become the name of a version that differs from it.
        guard version.version == name.description else { return .lost }
        let shelf = Shelf(isDraft: version.isDraft)
        let state = try state()
        let mayHaveBeenCurrent = found.isShelved && !version.isDraft
        let decision = PublishFacts(
            state: state, jobs: try jobs(state),
            wasCurrent: mayHaveBeenCurrent ? try isAncestor(name, of: state) : false
        ).decision(on: version)
        let refusal: Publication
        switch decision {
        case .publish:
            if !found.isShelved {
                try files.makeFolder(self.shelf(shelf))
                try files.move(source, to: folder(name, on: shelf))
            }
            try settleSizes(of: name, on: shelf)
            try settle(shelf)
            try point(shelf, to: name, by: source)
            try removeObsoleteDrafts(after: version)
            return .published
        case .isShown, .wasCurrent:
            // A crash may have happened between a move and its sync.
            if found.isShelved { try settleSizes(of: name, on: shelf) }
            try settle(shelf)
            try files.sync(path)
            if decision == .isShown { try removeObsoleteDrafts(after: version) }
            return .alreadyPublished
        case .wasMade(let before):
            if !found.isShelved { try files.remove(found.folder) }
            refusal = .publishedBefore(before)
        case .conflict(let current): refusal = .conflict(current: current)
        case .lost: return .lost
        }
        if found.isShelved { try removeVersion(found.folder) }
        return refusal
    }

    private func find(
        _ name: VersionName, or staged: FilePath
    ) throws(Failure) -> (folder: FilePath, isShelved: Bool)? {
        for shelf in Shelf.allCases where try files.exists(folder(name, on: shelf)) {
            return (folder(name, on: shelf), true)
        }
        // A link is the remains of a pointer that a crash left.
        return try files.isFolder(staged) ? (staged, false) : nil
    }

    /// Returns the jobs in the history, as ``LibraryReader/publishedJobs(of:_:)`` does.
    private func jobs(_ state: AssetState) throws(Failure) -> PublishedJobs {
        var lists: [PublishedJobs] = []
        for version in state.versions {
            var walk = HistoryWalk(listingJobsOf: version)
            while let name = walk.next { walk.add(try provenance(of: name)) }
            lists.append(walk.jobs)
        }
        return PublishedJobs(merging: lists)
    }

    /// The most versions that are read in order to determine whether one was current. That is needed only for a
    /// version on its shelf whose job died and that is not listed any more.
    private static let ancestorsMax = 1000

    /// Returns whether the current version was made on top of `name`, after any number of edits.
    ///
    /// - Returns: true also if that is not determined within the bound, because the answer false would remove the
    ///   version.
    private func isAncestor(_ name: VersionName, of state: AssetState) throws(Failure) -> Bool {
        guard let current = state.current else { return false }
        // Collected versions are older than kept ones.
        var walk = HistoryWalk(from: VersionName(current.version), floor: name.revision)
        for _ in 0..<Self.ancestorsMax {
            guard let next = walk.next else { return false }
            let version = next.description == current.version ? current : try provenance(of: next)
            if next == name || version?.publishedJobs?.versions.contains(name.description) == true {
                return true
            }
            walk.add(version)
        }
        return walk.next != nil
    }

    /// Returns the kept versions whose renditions go, and the names of versions whose folder is gone, as after a removal by hand.
    fileprivate func collectableSizes(
        _ history: [Provenance], kept: Int, _ retention: Retention, now: Date
    ) throws(Failure) -> (ofKept: [VersionName], ofNone: [VersionName]) {
        let names = Dictionary(
            uniqueKeysWithValues: history.enumerated().map { ($0.element.version, $0.offset) })
        let draft = try pointed(.drafts)
        var (ofKept, ofNone): ([VersionName], [VersionName]) = ([], [])
        for version in try files.list(sizes).compactMap({ VersionName($0) }) where version != draft
        {
            guard let place = names[version.description] else {
                if try shelf(of: version) == nil { ofNone.append(version) }
                continue
            }
            guard place < kept, place > 0, retention.renditions == .current,
                try files.list(sizes(of: version)).contains(where: { $0 != SizeList.fileName })
            else { continue }
            let list = try SizeList.replaceable { () throws(Failure) in try sizeList(of: version) }
            let made = list.renditions.values.map { Date(recorded: $0.at) }
            if retention.collectsRenditions(
                made: made + [history[place - 1].author.date], now: now)
            {
                ofKept.append(version)
            }
        }
        return (ofKept, ofNone)
    }

    /// Returns the folders of versions that never became current.
    fileprivate func orphans(
        besides history: [Provenance], _ retention: Retention, now: Date
    ) throws(Failure) -> [FilePath] {
        let draft = try pointed(.drafts)
        let known = Set(history.map(\.version) + [draft?.description].compactMap(\.self))
        var orphans: [FilePath] = []
        for shelf in Shelf.allCases {
            for name in try versionNames(on: shelf) where !known.contains(name) {
                let folder = self.shelf(shelf).appending(name)
                // Not a version, although its name is one; `verify` reports it.
                guard try files.exists(folder.appending(Provenance.fileName)),
                    retention.collectsOrphan(
                        made: try provenance(in: folder).author.date, mayHaveBeenCurrent: true,
                        now: now)
                else { continue }
                orphans.append(folder)
            }
        }
        return orphans
    }
}
