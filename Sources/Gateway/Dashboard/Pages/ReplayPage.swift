/// The page of a replay and its progress.
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
    let message: String?

    package static let section: Section? = .dead
    package static let template = "replay"
    package static let parts = ["progress"]

    /// The state of the replay.
    package enum Phase: String, Sendable { case running, stopped, finished, failed }

    /// - Parameters:
    ///   - by: the person or key that started it.
    ///   - refused: the number of jobs that were no longer dead or could not be replayed.
    ///   - rate: the jobs a second; nil for no limit.
    ///   - message: the reason for which it failed or was stopped.
    package init(
        _ frame: Frame, id: String, selection: DeadSelection, by: String, started: Moment,
        phase: Phase, replayed: Int, refused: Int, total: Int, rate: Int?, eta: String? = nil,
        message: String? = nil
    ) {
        self.frame = frame
        live = phase == .running ? Links.live("replay", of: id) : nil
        text = selection.text
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
