import Edits
public import FoundationEssentials

/// The facts that decide whether a sealed version becomes current, or the draft.
///
/// A store reads them at one moment, which no other publication can change unnoticed: under the asset's lock, or from
/// the head that its conditional write replaces. It then carries the decision out.
package struct PublishFacts: Sendable {
    package let state: AssetState
    /// The jobs in the asset's history.
    package let jobs: PublishedJobs
    /// Whether the version was current before.
    package let wasCurrent: Bool
    /// Whether its files, or those to which it links, are being removed.
    package let isGoing: Bool

    package init(
        state: AssetState, jobs: PublishedJobs, wasCurrent: Bool, isGoing: Bool = false
    ) {
        (self.state, self.jobs) = (state, jobs)
        (self.wasCurrent, self.isGoing) = (wasCurrent, isGoing)
    }

    package enum Decision: Sendable, Equatable {
        case publish
        /// It is the current version, or the draft.
        case isShown
        /// It was the current version before.
        case wasCurrent
        /// Its job has already made the version of this name: another one, or this one, a draft that was removed.
        case wasMade(String)
        case lost
        /// Another version is current, or a later draft is there.
        case conflict(current: VersionName?)
    }

    package func decision(on version: Provenance) -> Decision {
        let shown = version.isDraft ? state.draft : state.current
        if shown?.version == version.version { return .isShown }
        if wasCurrent { return .wasCurrent }
        if let job = version.job, let before = jobs.version(of: job) { return .wasMade(before) }
        if isGoing { return .lost }
        guard state.current?.version == version.parent else {
            return .conflict(current: state.current.flatMap { VersionName($0.version) })
        }
        // Of two drafts based on one version the one that arrived later is kept, whichever was rendered first.
        let arrival = version.isDraft ? state.draft?.author.arrival ?? 0 : state.arrival
        if let shown, let own = version.author.arrival, arrival > own {
            return .conflict(current: VersionName(shown.version))
        }
        return .publish
    }
}

/// The decision about an edit that requests the content that a version already has.
package enum ConfirmDecision: Sendable, Equatable {
    /// Another version has become current.
    case isReplaced
    /// A later arrival is known.
    case isKnown
    case record

    /// - Parameters:
    ///   - current: the current version.
    ///   - known: the latest recorded arrival of such an edit, in µs since 1970; nil if there was none.
    ///   - arrival: that of this edit.
    package init(_ version: Provenance, current: String?, known: Int?, arrival: Int) {
        self =
            current != version.version
            ? .isReplaced
            : arrival > max(known ?? 0, version.author.arrival ?? 0) ? .record : .isKnown
    }
}

/// A walk from a version to those that it was made from, the newest first.
///
/// A store reads each version for which the walk asks, until it asks for none.
package struct HistoryWalk: Sendable, Equatable {
    /// The versions found so far.
    package private(set) var versions: [Provenance] = []
    /// The version to read next; nil at the end.
    package private(set) var next: VersionName?
    /// Older versions were collected.
    private let floor: Int
    private let countMax: Int

    /// - Parameters:
    ///   - first: the version to begin with.
    ///   - floor: the lowest revision that is kept.
    package init(from first: VersionName?, floor: Int = 1, atMost countMax: Int = .max) {
        (self.floor, self.countMax) = (floor, countMax)
        next = first.flatMap { $0.revision >= floor ? $0 : nil }
    }

    /// A walk to the versions whose jobs ``jobs`` lists. It needs no other version, except for one that a release before
    /// format 2 made; the next version of its asset lists them.
    package init(listingJobsOf version: Provenance) {
        self.init(from: nil, atMost: PublishedJob.listedMax)
        if version.publishedJobs == nil { add(version) } else { versions = [version] }
    }

    /// Adds the version that was asked for; nil: it does not exist.
    package mutating func add(_ version: Provenance?) {
        next = nil
        guard let version else { return }
        versions.append(version)
        // A parent is older than its version (`Provenance.misnomer`), so the walk ends.
        guard versions.count < countMax, let parent = version.parent.flatMap(VersionName.init),
            parent.revision >= floor
        else { return }
        next = parent
    }

    package var jobs: PublishedJobs {
        versions.first?.publishedJobs ?? PublishedJobs(versions.compactMap(\.job))
    }
}

/// A rule for keeping versions.
///
/// The current version and the draft are always kept. A base layer is in the folder of the version that needs it,
/// so collecting an old version does not affect newer ones.
public struct Retention: Sendable, Equatable {
    /// The number of newest versions to keep, including the current one.
    public let versions: Int
    /// Younger versions than this are kept as well, in seconds; nil: none are kept for their age.
    public let age: TimeInterval?
    /// The versions whose renditions are kept.
    public let renditions: KeptRenditions

    /// The versions whose renditions are kept, as long as these are.
    public enum KeptRenditions: String, Sendable, CaseIterable {
        case all
        /// The current one and the draft. Those of others go a day after.
        case current
    }

    /// The default rule.
    public static let standard = Retention(versions: 20, age: 90 * 24 * 3600)

    /// The age at which a version that never became current is collected: its job has ended long before. If its job
    /// has not ended, because all workers were away, the job renders it again.
    package static let orphanAge: TimeInterval = 24 * 3600

    /// Creates a rule.
    ///
    /// - Parameter versions: at least 1.
    public init(versions: Int, age: TimeInterval?, renditions: KeptRenditions = .all) {
        precondition(versions >= 1, "the current version is always kept")
        self.versions = versions
        self.age = age
        self.renditions = renditions
    }

    /// Returns whether the renditions of a kept version that is not current are collected.
    ///
    /// - Parameter made: the dates of their making, and of that of the version that took its place; nil if one cannot be
    ///   read.
    package func collectsRenditions(made: [Date?], now: Date) -> Bool {
        renditions == .current
            && made.allSatisfy { $0.map { now.timeIntervalSince($0) > Self.orphanAge } ?? false }
    }

    /// Returns the number of versions to keep, counted from the current one.
    ///
    /// The others are an unbroken run from the oldest one: no version is collected before an older one, so a history
    /// has no gaps.
    ///
    /// - Parameter dates: the creation dates, the current version's first; nil if a date cannot be read.
    package func keptCount(of dates: [Date?], now: Date) -> Int {
        let kept = dates.enumerated().last { index, made in
            index < versions || isYoung(made, now: now)
        }
        return (kept?.offset ?? -1) + 1
    }

    private func isYoung(_ made: Date?, now: Date) -> Bool {
        guard let age else { return false }
        // A version without a readable date is kept.
        guard let made else { return true }
        return now.timeIntervalSince(made) < age
    }

    /// Returns whether a version that is in no history is collected.
    ///
    /// - Parameters:
    ///   - made: its creation date; nil if that is unknown.
    ///   - mayHaveBeenCurrent: whether it may be older than a version of the history that was removed by hand. It is
    ///     then kept as long as the history's.
    package func collectsOrphan(made: Date?, mayHaveBeenCurrent: Bool, now: Date) -> Bool {
        guard let made else { return false }
        let kept = mayHaveBeenCurrent ? max(Self.orphanAge, age ?? 0) : Self.orphanAge
        return now.timeIntervalSince(made) > kept
    }
}

/// The versions that a collection removed, or would remove.
public struct Collected: Sendable, Equatable, Codable {
    /// The versions, oldest first.
    public var versions: [String] = []
    /// The folders of versions that never became current, left by jobs that lost a race or crashed.
    public var orphans: [String] = []
    /// The kept versions whose renditions were removed.
    public var renditions: [String] = []
    /// The number of bytes that are freed, without those shared with other versions.
    public var bytes = 0
    /// The versions that were removed before and whose files the store still has, each with the reason: a missing
    /// right to delete, or a lock on the files.
    public var undeleted: [String: String] = [:]

    private enum CodingKeys: String, CodingKey {
        case versions, orphans, renditions, bytes
        case undeleted = "held"
    }

    /// Creates a record of removed versions; by default an empty one.
    package init(
        versions: [String] = [], orphans: [String] = [], renditions: [String] = [], bytes: Int = 0
    ) {
        (self.versions, self.orphans) = (versions, orphans)
        (self.renditions, self.bytes) = (renditions, bytes)
    }
}
