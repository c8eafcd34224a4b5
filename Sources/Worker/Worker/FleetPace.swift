import Synchronization

/// The interval of the tasks that any worker may do: checking for jobs without a wake-up, requesting the duty of
/// admission, and reclaiming lost leases.
///
/// The interval grows with the number of workers, so that a thousand workers send Redis about as many of these
/// requests as fifty.
final class FleetPace: Sendable {
    /// The rate of all workers together, per second, while there are at least that many workers and ``longest``
    /// allows it.
    static let perSecond = 50
    /// The interval of a worker in a small fleet.
    static let shortest: Duration = .seconds(1)
    /// The longest interval, in a very large fleet. It is shorter than the time after which a worker is reported as
    /// stalled.
    static let longest: Duration = .seconds(20)

    /// The longest interval between two requests for the duty of admission. At 4 s, with the other duties at the
    /// same interval, 1,000 idle workers used 8 % of a core of Redis instead of 4 %.
    static let dutyLongest: Duration = .seconds(10)

    private let workers = Mutex(1)
    private let floor: Duration

    /// - Parameter floor: the interval of a worker in a small fleet; a longer one is for tests, in which nothing may
    ///   happen by itself.
    init(floor: Duration = FleetPace.shortest) { self.floor = floor }

    /// Records the number of workers that have sent a heartbeat recently.
    func note(workers number: Int) { workers.withLock { $0 = number } }

    /// The time until the next request for the duty of admission, with the same jitter.
    var dutyInterval: Duration { min(interval, Self.dutyLongest * Double.random(in: 0.75...1)) }

    /// The time until the next turn: the nominal interval times a random factor between 0.75 and 1.
    var interval: Duration {
        let even = Duration.seconds(1) * workers.withLock { $0 } / Self.perSecond
        return max(min(max(even, Self.shortest), Self.longest), floor) * Double.random(in: 0.75...1)
    }
}
