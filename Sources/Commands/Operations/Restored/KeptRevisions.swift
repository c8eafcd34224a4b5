import JobQueue
import Library

/// The numbers of an asset's versions that a library has, and those that are lost of it.
///
/// A version that is not kept may have been collected, but then a later one is current. So one is lost if its number is above that of
/// the current version, if the history has another version of its number, or if the history leaves its number out.
struct KeptRevisions: Sendable {
    /// A version of the history.
    struct Version: Sendable {
        let name: VersionName
        /// The number of the version that it was made from; 0: the original.
        let parent: Int
        /// As in ``Provenance/told``.
        let told: Int?
    }

    /// A version that an event tells of.
    struct Told: Sendable {
        let job: String
        let version: String
    }

    private let current: Int
    private let kept: [Int: VersionName]
    private let leftOut: [ClosedRange<Int>]

    /// - Parameters:
    ///   - current: the number of the current version; 0: the original.
    ///   - history: the kept versions.
    init(current: Int, _ history: [Version]) {
        self.current = current
        kept = Dictionary(history.map { ($0.name.revision, $0.name) }) { first, _ in first }
        leftOut = history.compactMap { version in
            guard let told = version.told, version.parent < told else { return nil }
            return version.parent + 1...told
        }
    }

    private func lacks(_ name: VersionName) -> Bool {
        if name.revision > current { return true }
        if let other = kept[name.revision] { return other != name }
        return leftOut.contains { $0.contains(name.revision) }
    }

    /// Returns the jobs whose versions are lost, in the order in which they were told. The last version that a job published decides:
    /// what was lost and done again is not lost.
    func lost(of told: [Told], _ asset: String) -> [LostJob] {
        let versions = told.compactMap { told in
            VersionName(told.version).map { (job: told.job, name: $0) }
        }
        let highest = versions.map(\.name.revision).max() ?? 0
        var last: [String: VersionName] = [:]
        for version in versions { last[version.job] = version.name }
        var jobs: [LostJob] = []
        for version in versions where last[version.job] == version.name {
            // One that is told again is named once.
            last[version.job] = nil
            guard lacks(version.name) else { continue }
            jobs.append(
                LostJob(
                    job: version.job, asset: asset, version: version.name.description,
                    told: highest))
        }
        return jobs
    }
}
