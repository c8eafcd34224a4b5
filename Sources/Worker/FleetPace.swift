import Synchronization

/// How often a worker does what any of them may do: looks for jobs that it was not woken for, asks for the duty to
/// admit, takes back lost leases.
///
/// The more workers there are, the rarer each does it, so that Redis is asked about as often by a thousand as by fifty.
final class FleetPace: Sendable {
    /// How often all workers together do it in a second, while there are at least as many and ``longest`` allows it.
    static let perSecond = 50
    /// The time between two turns of one worker among few.
    static let shortest: Duration = .seconds(1)
    /// The same among very many: shorter than the time after which a worker is taken for one that stands.
    static let longest: Duration = .seconds(20)

    /// The longest time after which a worker asks for the duty to admit. 4 s, with the other duties at the same pace, cost
    /// 1,000 idle workers 8 % of a core of Redis instead of 4.
    static let dutyLongest: Duration = .seconds(10)

    private let workers = Mutex(1)

    /// Notes how many workers were heard of lately.
    func note(workers number: Int) { workers.withLock { $0 = number } }

    /// The time until a worker asks for the duty to admit again, likewise.
    var dutyInterval: Duration { min(interval, Self.dutyLongest * Double.random(in: 0.75...1)) }

    /// The time to the next turn, with jitter: 0.75 to 1 of what it may be.
    var interval: Duration {
        let even = Duration.seconds(1) * workers.withLock { $0 } / Self.perSecond
        return min(max(even, Self.shortest), Self.longest) * Double.random(in: 0.75...1)
    }
}
