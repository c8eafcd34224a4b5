import Adjustments

extension JobEvent {
    /// The id of the event's job; nil for an event of a batch or a stream.
    var job: String? {
        switch data {
        case .completed(let data), .drafted(let data): data.job
        case .unchanged(let data): data.job
        case .superseded(let data): data.job
        case .previewed(let data): data.job
        case .progressed(let data): data.job
        case .failed(let data): data.job
        case .retried(let data): data.job
        case .conflict(let data): data.job
        case .stuck(let data): data.job
        case .cancelled(let data): data.job
        case .batchCompleted, .batchConflict, .batchSealed, .streamHarmed: nil
        }
    }

    /// Returns whether the event states that a job has finished, failed or become stuck.
    func ends(_ job: String) -> Bool {
        switch data {
        case .completed, .drafted, .unchanged, .superseded, .failed, .stuck, .cancelled:
            self.job == job
        case .previewed, .progressed, .retried, .conflict, .batchCompleted, .batchConflict,
            .batchSealed, .streamHarmed:
            false
        }
    }
}
