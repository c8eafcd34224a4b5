package import JobQueue

/// A state in a word, with a sign and a tone: colour is never all.
package struct StateMark: View {
    let word: String
    let icon: String
    /// A class of the style: `calm`, `busy`, `good`, `attention`, `trouble`.
    let tone: String

    init(_ word: String, _ icon: String, _ tone: String) {
        self.word = word
        self.icon = icon
        self.tone = tone
    }

    /// Of a job: `JobState`'s words, `JobFacts`' further ones (`incoming`, `lane`, `dropped`, `unknown`), and outcomes.
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

    /// Of a batch.
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
