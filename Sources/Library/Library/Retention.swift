public import FoundationEssentials

/// A rule for keeping versions.
///
/// The current version and the draft are always kept. A base layer is in the folder of the version that needs it,
/// so collecting an old version does not affect newer ones.
public struct Retention: Sendable, Equatable {
    /// The number of newest versions to keep, including the current one.
    public let versions: Int
    /// Younger versions than this are kept as well, in seconds; nil: none are kept for their age.
    public let age: TimeInterval?

    /// The default rule.
    public static let standard = Retention(versions: 20, age: 90 * 24 * 3600)

    /// The age at which a version that never became current is collected: its job has ended long before. If its job
    /// has not ended, because all workers were away, the job renders it again.
    package static let orphanAge: TimeInterval = 24 * 3600

    /// Creates a rule.
    ///
    /// - Parameter versions: at least 1.
    public init(versions: Int, age: TimeInterval?) {
        precondition(versions >= 1, "the current version is always kept")
        self.versions = versions
        self.age = age
    }

    /// Returns the versions of a history to collect, oldest first.
    ///
    /// They are an unbroken run from the oldest one: no version is collected before an older one, so a history has
    /// no gaps.
    ///
    /// - Parameter history: the history, the current version first.
    public func collectable(of history: [Provenance], now: Date) -> [Provenance] {
        history.dropFirst(keptCount(of: history.map(\.author.date), now: now)).reversed()
    }

    /// Returns the number of versions to keep, counted from the current one.
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
}

extension Provenance.Author {
    /// The time of creation; nil if it cannot be read.
    public var date: Date? {
        do {
            return try Date(at, strategy: .iso8601)
        } catch {
            return nil  // the caller decides what an unknown time means
        }
    }
}
