package import JobQueue

/// A state as a word with an icon and a tone, so that colour is never the only sign.
package struct StateMark: View {
    let label: String
    let icon: String
    /// A CSS class: `calm`, `busy`, `good`, `attention`, `trouble`.
    let tone: String

    init(_ label: String, _ icon: String, _ tone: String) {
        self.label = label
        self.icon = icon
        self.tone = tone
    }

    init(_ state: JobState) { self.init(state.rawValue, state.icon, state.tone.rawValue) }

    /// Creates the mark of a job's state, or of the outcome of a job that has ended.
    package init(job word: String) {
        let outcome = JobOutcome.Name(rawValue: word)
        let state =
            JobState(rawValue: word) ?? outcome.map { $0.isSuccess ? .done : .dropped } ?? .unknown
        self.init(word, state.icon, state.tone.rawValue)
    }

    /// Creates the mark of a batch's state.
    package init(_ batch: BatchRecord) {
        if batch.cancel != nil {
            self.init("cancelled", "∅", "calm")
        } else if batch.isComplete {
            let isGood = batch.dead == 0
            self.init(
                isGood ? "ended" : "ended with failures", isGood ? "✓" : "▲",
                isGood ? "good" : "attention")
        } else if batch.sealed == nil {
            self.init("filling", "○", "calm")
        } else {
            self.init("running", "▶", "busy")
        }
    }
}
