import Edits
import JobQueue
import Library

/// The ends of one asset's jobs as events tell them, in their order.
///
/// The library is compared with what must be there by them: the versions, the draft that was neither published nor discarded since, and the
/// renditions that were made beside a version.
struct ToldEnds: Sendable {
    /// The end of a job.
    struct End: Sendable, Equatable {
        let job: String
        let what: What
        /// The time, RFC 3339 in UTC.
        let at: String
    }

    enum What: Sendable, Equatable {
        /// A version became current.
        case version(VersionName, Edit.Name)
        case draft(VersionName)
        /// The renditions of a version by name, those that failed left out.
        case renditions([String: MadeFile], of: VersionName)
        /// Nothing was made: a draft was removed, or there was nothing to do, or the job failed.
        case nothing(removesDraft: Bool)
    }

    /// The asset as the library has it.
    struct Holdings: Sendable {
        let revisions: KeptRevisions
        /// The versions and drafts that the current version lists as published.
        var listed: Set<String> = []
        var draft: VersionName?
        /// The renditions of versions that are there, by version.
        var sizes: [VersionName: SizeList] = [:]
    }

    private(set) var ends: [End] = []

    /// The most ends of an asset that are compared: older versions are below those.
    static let endsMax = 128

    mutating func add(_ end: End) {
        ends.append(end)
        if ends.count > Self.endsMax { ends.removeFirst() }
    }

    /// The versions that became current.
    var versions: [VersionName] {
        ends.compactMap { if case .version(let name, _) = $0.what { name } else { nil } }
    }

    /// The versions whose renditions are told.
    var versionsWithRenditions: Set<VersionName> {
        Set(
            ends.compactMap { if case .renditions(_, of: let name) = $0.what { name } else { nil } }
        )
    }

    /// Returns what the library lacks, in the order in which it was told. The last end of each job decides: what was lost and done again is
    /// not lost.
    func lost(_ asset: String, in kept: Holdings) -> [LostJob] {
        let last = Dictionary(ends.map { ($0.job, $0.what) }) { _, last in last }
        var lacks = Lacks(asset: asset, kept: kept, last: last)
        for (index, end) in ends.enumerated() where last[end.job] == end.what {
            switch end.what {
            case .version(let name, let mode):
                guard lacks.version(name, of: end.job) else { continue }
                if mode == .publish { lacks.draftPublished(by: end.job, ends[..<index]) }
            case .renditions(let made, of: let name):
                lacks.renditions(missing(of: made, name, from: index, kept), name, index, ends)
            case .draft, .nothing: break
            }
        }
        if let draft = Self.draft(after: ends[...]) { lacks.draft(draft) }
        let highest = versions.map(\.revision).max() ?? 0
        let order = Dictionary(ends.enumerated().map { ($1.job, $0) }) { first, _ in first }
        return lacks.jobs.values.sorted { order[$0.job] ?? 0 < order[$1.job] ?? 0 }
            .map { $0.telling(lacks.anyVersion ? highest : 0) }
    }

    /// Returns the draft that an asset has after some ends, and the job that made it; nil if it has none.
    fileprivate static func draft(after ends: ArraySlice<End>) -> (job: String, name: VersionName)?
    {
        for end in ends.reversed() {
            switch end.what {
            case .draft(let name): return (end.job, name)
            case .version(_, .publish), .nothing(removesDraft: true): return nil
            case .version, .renditions, .nothing: continue
            }
        }
        return nil
    }

    /// Returns whether the library lacks a rendition that no later job has made.
    private func missing(
        of made: [String: MadeFile], _ version: VersionName, from index: Int, _ kept: Holdings
    ) -> Bool {
        guard let sizes = kept.sizes[version] else { return false }
        return made.contains { name, file in
            let isMadeLater = ends[(index + 1)...].contains { end in
                guard case .renditions(let others, of: version) = end.what else { return false }
                return others[name] != nil
            }
            // Retention keeps the record of one whose file it removes.
            guard !isMadeLater, sizes.gone[name] == nil else { return false }
            guard let there = sizes.renditions[name] else { return true }
            // One that was made since takes its place. Times of records have whole seconds.
            return there.made != file && there.at.prefix(19) < ends[index].at.prefix(19)
        }
    }
}

/// The jobs of which the library lacks something, while they are found out.
private struct Lacks {
    let asset: String
    let kept: ToldEnds.Holdings
    /// The last end of each job.
    let last: [String: ToldEnds.What]
    private(set) var jobs: [String: LostJob] = [:]
    private(set) var anyVersion = false

    init(asset: String, kept: ToldEnds.Holdings, last: [String: ToldEnds.What]) {
        (self.asset, self.kept, self.last) = (asset, kept, last)
    }

    private func isLost(version name: VersionName) -> Bool {
        !kept.listed.contains(name.description) && kept.revisions.lacks(name)
    }

    /// Returns whether a version is lost, and notes it if so.
    mutating func version(_ name: VersionName, of job: String) -> Bool {
        guard isLost(version: name) else { return false }
        jobs[job] = LostJob(job: job, asset: asset, version: name.description, told: 0)
        anyVersion = true
        return true
    }

    /// Notes a draft, if it is lost.
    mutating func draft(_ draft: (job: String, name: VersionName)) {
        guard last[draft.job] == .draft(draft.name), isLost(draft: draft.name) else { return }
        jobs[draft.job] = LostJob(
            job: draft.job, asset: asset, version: draft.name.description, told: 0, lack: .draft)
    }

    private func isLost(draft name: VersionName) -> Bool {
        if kept.listed.contains(name.description) { return false }
        // A newer one of which nothing is told yet may have taken its place: fences rise.
        guard let fence = kept.draft.flatMap({ Int($0.fence) }) else { return true }
        return fence < Int(name.fence) ?? 0
    }

    /// Notes the draft that a lost version was made of, if it is lost, too: without it there is nothing to publish.
    mutating func draftPublished(by job: String, _ before: ArraySlice<ToldEnds.End>) {
        guard let base = ToldEnds.draft(after: before), base.name != kept.draft,
            !kept.listed.contains(base.name.description)
        else { return }
        draft(base)
        jobs[job]?.base = LostJob.Base(job: base.job, version: base.name.description)
    }

    /// Notes a job that made renditions, if some are missing, or if their version is lost.
    mutating func renditions(
        _ areMissing: Bool, _ name: VersionName, _ index: Int, _ ends: [ToldEnds.End]
    ) {
        // A draft has the number of a version that is not there.
        let isVersion = ends.contains {
            if case .version(name, _) = $0.what { true } else { false }
        }
        let isVersionLost = isVersion && isLost(version: name)
        guard areMissing || isVersionLost else { return }
        let job = ends[index].job
        var lost = LostJob(
            job: job, asset: asset, version: name.description, told: 0, lack: .renditions)
        // Made again, it is current when they are, if it was then.
        let before = ends[..<index].last { if case .version = $0.what { true } else { false } }
        if isVersionLost, let before, case .version(name, _) = before.what {
            lost.base = LostJob.Base(job: before.job, version: name.description)
        }
        jobs[job] = lost
    }
}
