/// What a replay would do, before it does.
package struct ReplayPreviewPage: Page {
    package let frame: Frame
    package let title = "Replay dead jobs"
    let selection: DeadSelection
    let words: String
    let count: String
    let expected: Int
    let isEmpty: Bool
    let until: Moment?
    let rate: Int?
    let cost: String?
    let eta: String?
    let sample: [JobRow]
    let listHref: String
    let action: String
    let counts: [Fact]

    package static let section: Section? = .dead
    package static let template = "replay-preview"

    /// - Parameters:
    ///   - selection: with `until` set, so that jobs that die later are not meant.
    ///   - expected: how many jobs it meets now; comes back in the field `expected`.
    ///   - counts: how many of which code.
    ///   - rate: jobs a second; nil for no limit.
    ///   - cost: what they will cost, in words; nil when nothing is known.
    ///   - eta: how long it will take, in words.
    ///   - sample: some of them.
    package init(
        _ frame: Frame, selection: DeadSelection, until: Moment?, expected: Int,
        counts: [Fact] = [], rate: Int?, cost: String?, eta: String?, sample: [JobRow]
    ) {
        self.frame = frame
        self.selection = selection
        words = selection.words
        self.until = until
        self.expected = expected
        count = grouped(expected)
        isEmpty = expected == 0
        self.counts = counts
        self.rate = rate
        self.cost = cost
        self.eta = eta
        self.sample = sample
        listHref = selection.listed()
        action = Links.replayPreview
    }
}

/// A replay on its way.
package struct ReplayPage: Page {
    package let frame: Frame
    package let title = "Replay"
    package let live: String?
    let words: String
    let by: String
    let started: Moment
    let state: StateMark
    let replayed: String
    let refused: String
    let total: String
    let percent: Int
    let rate: String
    let eta: String?
    let canStop: Bool
    let stopAction: String
    let message: String?

    package static let section: Section? = .dead
    package static let template = "replay"
    package static let parts = ["progress"]

    /// Where it is.
    package enum Phase: String, Sendable { case running, stopped, finished, failed }

    /// - Parameters:
    ///   - by: who started it.
    ///   - refused: jobs that were not dead any more, or could not be started.
    ///   - rate: jobs a second; nil for no limit.
    ///   - message: why it failed or was stopped.
    package init(
        _ frame: Frame, id: String, selection: DeadSelection, by: String, started: Moment,
        phase: Phase, replayed: Int, refused: Int, total: Int, rate: Int?, eta: String? = nil,
        message: String? = nil
    ) {
        self.frame = frame
        live = phase == .running ? Links.live("replay", of: id) : nil
        words = selection.words
        self.by = by
        self.started = started
        state =
            switch phase {
            case .running: StateMark("running", "▶", "busy")
            case .stopped: StateMark("stopped", "■", "attention")
            case .finished: StateMark("finished", "✓", "good")
            case .failed: StateMark("failed", "✕", "trouble")
            }
        self.replayed = grouped(replayed)
        self.refused = grouped(refused)
        self.total = grouped(total)
        percent = phase == .finished ? 100 : portion(replayed + refused, of: total)
        self.rate = rate.map { "at most \(grouped($0)) a second" } ?? "as fast as it goes"
        self.eta = eta
        canStop = phase == .running
        stopAction = Links.stopReplay(id)
        self.message = message
    }
}
