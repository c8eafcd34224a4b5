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

    /// Creates the mark of a job's state: the words of `JobState`, the additional ones of `JobFacts` (`incoming`,
    /// `lane`, `dropped`, `unknown`), and outcomes.
    package init(job state: String) {
        switch state {
        case "ready", "incoming", "lane": self.init(state, "○", "calm")
        case "delayed": self.init(state, "◔", "calm")
        case "parked": self.init(state, "‖", "calm")
        case "active", "committing": self.init(state, "▶", "busy")
        case "stuck": self.init(state, "▲", "trouble")
        case "done", "completed", "drafted", "unchanged": self.init(state, "✓", "good")
        case "cancelled", "superseded", "dropped": self.init(state, "∅", "calm")
        case "dead": self.init(state, "✕", "trouble")
        default: self.init(state, "?", "attention")
        }
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
