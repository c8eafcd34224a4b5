public import Edits
import BlobStore
public import Library

extension BucketLibrary {
    /// The most entries of a page of assets. Source: Amazon S3, `max-keys`.
    static let assetsMax = 1_000

    public func state(of asset: AssetPath) async throws(Failure) -> AssetState {
        try await state(head(of: asset), asset)
    }

    public func provenance(
        of name: VersionName, _ asset: AssetPath
    ) async throws(Failure) -> Provenance? {
        if let head = heads[ExactName(asset)]?.head,
            head.history.contains(where: { $0.version == name.description })
        {
            return try await record(name, asset)
        }
        let head = try await head(of: asset).head
        if head.history.contains(where: { $0.version == name.description }) {
            return try await record(name, asset)
        }
        guard let older = head.older, name.revision <= older.revision, name.revision >= head.floor,
            let version = try await record(name, asset), !version.isDraft
        else { return nil }
        return version
    }

    public func history(of asset: AssetPath) async throws(Failure) -> [Provenance] {
        let tagged = try await head(of: asset)
        _ = try await state(tagged, asset)
        let names = tagged.head.history.compactMap { VersionName($0.version) }
        let listed = try await concurrentMap(names, atOnce: Self.requestsAtOnce) {
            name throws(Failure) in
            try await self.record(name, asset)
        }
        // A missing version was collected after its head was read.
        let known = listed.prefix { $0 != nil }.compactMap(\.self)
        guard known.count == names.count else { return known }
        return known + (try await older(tagged.head, asset))
    }

    public func assets(after: AssetPath?) async throws(Failure) -> AssetPage {
        var last: BlobKey?
        if let after { last = try keys.head(of: after) }
        while true {
            let start = last
            let page = try await storeCall { () throws(BlobError) in
                try await store.list(LibraryKeys.headPrefix, after: start)
            }
            let assets = page.entries.compactMap { keys.asset(ofHead: $0.key) }
            guard let next = page.next else { return AssetPage(assets) }
            if let end = assets.last { return AssetPage(assets, next: end) }
            // The page contains only objects of other programs.
            last = next
        }
    }

    /// Includes assets that no head names, because a job ended between its first version and the head.
    public func storedAssets(after: AssetPath?) async throws(Failure) -> AssetPage {
        var last: BlobKey?
        if let after { last = try keys.end(ofVersionsOf: after) }
        while true {
            let start = last
            let page = try await storeCall { () throws(BlobError) in
                try await store.list(LibraryKeys.versionsFolder, after: start)
            }
            var assets: [AssetPath] = []
            for entry in page.entries {
                guard let asset = keys.asset(ofVersion: entry.key), asset != assets.last else {
                    continue
                }
                assets.append(asset)
            }
            guard let next = page.next else { return AssetPage(assets) }
            if let end = assets.last { return AssetPage(assets, next: end) }
            last = next
        }
    }

    public func publishedJobs(
        of asset: AssetPath, _ state: AssetState
    ) async throws(Failure) -> PublishedJobs {
        var lists: [PublishedJobs] = []
        for version in [state.draft, state.current].compactMap(\.self) {
            if let published = version.publishedJobs {
                lists.append(published)
            } else {
                lists.append(PublishedJobs(try await jobsBefore(version, of: asset)))
            }
        }
        return PublishedJobs(merging: lists)
    }

    /// Returns the jobs of a version that a release before format 2 made, and of its ancestors.
    private func jobsBefore(
        _ version: Provenance, of asset: AssetPath
    ) async throws(Failure) -> [PublishedJob] {
        var jobs: [PublishedJob] = []
        var next: Provenance? = version
        for _ in 0..<PublishedJob.listedMax {
            guard let version = next else { break }
            jobs += [version.job].compactMap(\.self)
            next = nil
            if let parent = version.parent.flatMap(VersionName.init) {
                next = try await record(parent, asset)
            }
        }
        return jobs
    }

    public func publishedBefore(
        _ job: PublishedJob?, of asset: AssetPath, _ state: AssetState
    ) async throws(Failure) -> PublishedBefore? {
        guard let job,
            let before = try await publishedJobs(of: asset, state).version(of: job),
            let name = VersionName(before)
        else { return nil }
        for shown in [state.draft, state.current].compactMap(\.self)
        where shown.version == before {
            return .kept(shown)
        }
        guard let version = try await provenance(of: name, asset) else { return .gone(before) }
        return .kept(version)
    }

    /// Checks only lengths, because objects cannot collide.
    public func checkEntries(of asset: AssetPath) async throws(Failure) {
        try keys.check(asset)
    }
}
