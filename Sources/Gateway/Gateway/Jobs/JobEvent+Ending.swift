import Edits

extension JobEvent {
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
