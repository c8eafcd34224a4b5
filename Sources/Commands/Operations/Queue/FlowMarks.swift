import JobQueue

/// The flows of the last minute's readings, one every ten seconds, from which shares are computed.
struct FlowMarks {
    private static let step: Duration = .seconds(10)
    private static let span: Duration = .seconds(60)

    private var marks: [(at: ContinuousClock.Instant, flows: [QueueStatus.Flow])] = []

    /// Records flows if the last mark is old enough, and drops marks older than a minute.
    mutating func note(_ flows: [QueueStatus.Flow], at time: ContinuousClock.Instant) {
        marks.removeAll { time - $0.at > Self.span }
        if let last = marks.last, time - last.at < Self.step { return }
        marks.append((time, flows))
    }

    /// The flows of the oldest mark.
    var oldest: [QueueStatus.Flow]? { marks.first?.flows }
}
