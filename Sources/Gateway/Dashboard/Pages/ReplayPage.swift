package struct ReplayPage: Page {
    package let frame: Frame
    package let title = "Replay"
    package let live: String?
    let text: String
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
    let canContinue: Bool
    let continueAction: String
    /// The results of the jobs that are tried first; nil for a replay without a trial.
    let trial: String?
    let message: String?

    package static let section: Section? = .dead
    package static let template = "replay"
    package static let parts = ["progress"]

    package enum Phase: String, Sendable {
        case running, stopped, finished, failed, trying, held

        var isOpen: Bool { self == .running || self == .trying }
    }

    package init(
        _ frame: Frame, id: String, selection: DeadSelection, by: String, started: Moment,
        phase: Phase, replayed: Int, refused: Int, total: Int, rate: Int?, eta: String? = nil,
        trial: String? = nil, message: String? = nil
    ) {
        self.frame = frame
        live = phase.isOpen ? Links.live("replay", of: id) : nil
        text = selection.text
        self.by = by
        self.started = started
        state =
            switch phase {
            case .running: StateMark("running", "▶", "busy")
            case .stopped: StateMark("stopped", "■", "attention")
            case .finished: StateMark("finished", "✓", "good")
            case .failed: StateMark("failed", "✕", "trouble")
            case .trying: StateMark("trying the first", "▶", "busy")
            case .held: StateMark("held", "■", "attention")
            }
        self.replayed = grouped(replayed)
        self.refused = grouped(refused)
        self.total = grouped(total)
        percent = phase == .finished ? 100 : portion(replayed + refused, of: total)
        self.rate = rate.map { "at most \(grouped($0)) a second" } ?? "as fast as it goes"
        self.eta = eta
        canStop = phase.isOpen || phase == .held
        canContinue = phase == .held
        continueAction = Links.continueReplay(id)
        self.trial = trial
        stopAction = Links.stopReplay(id)
        self.message = message
    }
}

/// The page of a replay before it starts, with its jobs.
package struct ReplayPreviewPage: Page {
    package let frame: Frame
    package let title = "Replay dead jobs"
    let selection: DeadSelection
    let text: String
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
    let trial: Trial?

    /// A job that can be tried as a draft before the others are replayed.
    package struct Trial: View {
        let job: String
        let href: String
        let asset: String
        let action: String

        init(_ row: JobRow) {
            job = row.job
            href = row.href
            asset = row.asset
            action = Links.tryAsDraft(row.job)
        }
    }

    package static let section: Section? = .dead
    package static let template = "replay-preview"

    /// - Parameters:
    ///   - selection: the filter, with `until` set, so that it excludes jobs that die later.
    ///   - expected: the current number of matching jobs, which the form returns in the field `expected`.
    ///   - counts: the number of jobs by code.
    ///   - rate: the jobs a second; nil for no limit.
    ///   - cost: the estimated cost as text; nil if it is unknown.
    ///   - eta: the estimated duration as text.
    ///   - sample: some of the jobs.
    package init(
        _ frame: Frame, selection: DeadSelection, until: Moment?, expected: Int,
        counts: [Fact] = [], rate: Int?, cost: String?, eta: String?, sample: [JobRow]
    ) {
        self.frame = frame
        self.selection = selection
        text = selection.text
        self.until = until
        self.expected = expected
        count = grouped(expected)
        isEmpty = expected == 0
        self.counts = counts
        self.rate = rate
        self.cost = cost
        self.eta = eta
        self.sample = sample
        trial = sample.first.map(Trial.init)
        listHref = selection.listed()
        action = Links.replayPreview
    }
}
