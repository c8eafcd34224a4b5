/// The state of a courier while it has the lease.
struct DeliveryRound {
    /// How far the endpoint was at the last turn.
    private(set) var place: DeliveryTurn.Place
    /// How far it has been read: ahead of what is written by events that are not for it.
    var cursor: String
    /// When the last turn was asked for: the lease counts from there.
    private(set) var asked: ContinuousClock.Instant
    /// When a message was sent last.
    var triedAt: ContinuousClock.Instant?
    private var dueAt: ContinuousClock.Instant?

    init(_ place: DeliveryTurn.Place, asked: ContinuousClock.Instant) {
        self.place = place
        cursor = place.cursor
        self.asked = asked
        dueAt = place.dueIn.map { asked + $0 }
    }

    mutating func update(_ place: DeliveryTurn.Place, asked: ContinuousClock.Instant) {
        self.place = place
        self.asked = asked
        dueAt = place.dueIn.map { asked + $0 }
    }

    /// The message that is to be sent again now.
    var due: ParkedMessage? { timeToDue <= .zero ? place.next : nil }

    /// How long until the next message is to be sent again.
    var timeToDue: Duration { dueAt.map { $0 - .now } ?? .seconds(86_400) }
}
