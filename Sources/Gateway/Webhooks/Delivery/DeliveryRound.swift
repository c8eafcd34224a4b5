/// The state of a courier while it holds the lease.
struct DeliveryRound {
    /// The endpoint's progress at the last turn.
    private(set) var progress: DeliveryTurn.Progress
    /// The position that has been read. It is ahead of the recorded one by events that are not for the endpoint.
    var cursor: String
    /// The time at which the last turn was requested: the lease counts from then.
    private(set) var asked: ContinuousClock.Instant
    /// The time at which a message was last sent.
    var triedAt: ContinuousClock.Instant?
    private var dueAt: ContinuousClock.Instant?

    init(_ progress: DeliveryTurn.Progress, asked: ContinuousClock.Instant) {
        self.progress = progress
        cursor = progress.cursor
        self.asked = asked
        dueAt = progress.dueIn.map { asked + $0 }
    }

    mutating func update(_ progress: DeliveryTurn.Progress, asked: ContinuousClock.Instant) {
        self.progress = progress
        self.asked = asked
        dueAt = progress.dueIn.map { asked + $0 }
    }

    /// The message that is due for another attempt.
    var due: ParkedMessage? { timeToDue <= .zero ? progress.next : nil }

    /// The time until the next message is due for another attempt.
    var timeToDue: Duration { dueAt.map { $0 - .now } ?? .seconds(86_400) }
}
