public import FoundationEssentials

/// Which versions are kept.
///
/// Whatever it says, the current version and the draft are kept; and a base layer is in the folder of the
/// version that needs it, so collecting an old version takes nothing away from a newer one.
public struct Retention: Sendable, Equatable {
    /// The newest so many are kept, the current one counted.
    public let versions: Int
    /// And those that are younger than this, in seconds; nil for none on account of age.
    public let age: TimeInterval?

    /// What is kept when nobody says.
    public static let standard = Retention(versions: 20, age: 90 * 24 * 3600)

    /// How old a version that never became current has to be before it goes: its job has ended long ago. One
    /// whose job has not, because all workers were away, is rendered again.
    package static let orphanAge: TimeInterval = 24 * 3600

    /// Makes a rule.
    ///
    /// - Parameter versions: at least 1.
    public init(versions: Int, age: TimeInterval?) {
        precondition(versions >= 1, "the current version is always kept")
        self.versions = versions
        self.age = age
    }

    /// The versions of a history that are not kept, oldest first.
    ///
    /// An unbroken run from the oldest: a version is never collected ahead of an older one, so that a history
    /// has no gaps.
    ///
    /// - Parameter history: the current version first.
    public func collectable(of history: [Provenance], now: Date) -> [Provenance] {
        history.dropFirst(keptCount(of: history.map(\.author.date), now: now)).reversed()
    }

    /// How many versions of a history are kept, counted from the current one.
    ///
    /// - Parameter dates: when each was made, the current one's first; nil where that cannot be read.
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
    /// When, or nil when it cannot be read.
    public var date: Date? {
        do {
            return try Date(at, strategy: .iso8601)
        } catch {
            return nil  // the caller decides what an unknown time means
        }
    }
}
