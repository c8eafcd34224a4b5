import Edits
package import JobQueue

/// The page of one job: the reason for its state first, then all known facts.
package struct JobPage: Page {
    package let frame: Frame
    package let title: String
    package let live: String?
    let job: String
    let state: StateMark
    let sentence: String
    let facts: [Fact]
    let asset: String?
    let assetHref: String?
    let bundleHref: String
    let cancelAction: String
    let replayAction: String
    /// The form action that tries the edit as a draft; nil if the edit makes no draft or the job is not dead.
    let draftAction: String?
    let isCancellable: Bool
    let isReplayable: Bool
    let timeline: [Event]
    let attempts: [AttemptRow]
    let hasAttempts: Bool
    let edit: EditView?
    let progress: Int?

    package static let template = "job"
    package static let parts = ["state", "timeline", "attempts"]

    package struct Event: View {
        let at: Moment
        let text: String
        let tone: String

        package init(at: Moment, _ text: String, tone: StateMark? = nil) {
            self.at = at
            self.text = text
            self.tone = tone?.tone ?? "calm"
        }
    }

    /// The edit as steps, and as the client sent it.
    package struct EditView: View {
        let steps: [EditStep]
        let output: String?
        let json: String
        let note: String?

        package init(steps: [EditStep], output: String?, json: String, note: String? = nil) {
            self.steps = steps
            self.output = output
            self.json = json
            self.note = note
        }
    }

    /// - Parameters:
    ///   - state: `JobFacts.state`, or the outcome of a job that has ended.
    ///   - sentence: the reason for the state.
    ///   - facts: the numbers of the reason, then the known facts about the job.
    ///   - asset: the asset; nil if only the name of the job is left.
    ///   - attempts: the failed attempts, the newest first.
    ///   - makesDraft: whether the edit can be tried as a draft.
    package init(
        _ frame: Frame, job: String, state: String, sentence: String, facts: [Fact],
        asset: String?, timeline: [Event], attempts: [AttemptRow], edit: EditView?,
        progress: Int? = nil, isCancellable: Bool, isReplayable: Bool, makesDraft: Bool = false
    ) {
        self.frame = frame
        title = "Job \(job)"
        live = Links.live("job", of: job)
        self.job = job
        self.state = StateMark(job: state)
        // The page shows the state as a mark, so the sentence does not repeat it.
        let prefix = state + ": "
        self.sentence =
            sentence.hasPrefix(prefix) ? String(sentence.dropFirst(prefix.count)) : sentence
        self.facts = facts
        self.asset = asset?.printable
        assetHref = asset.flatMap(Links.assetPage)
        bundleHref = Links.bundle(job)
        cancelAction = Links.cancelJob(job)
        replayAction = Links.replayJob(job)
        draftAction = makesDraft ? Links.tryAsDraft(job) : nil
        self.isCancellable = isCancellable
        self.isReplayable = isReplayable
        self.timeline = timeline
        self.attempts = attempts
        hasAttempts = !attempts.isEmpty
        self.edit = edit
        self.progress = progress
    }

    /// Returns the events of a job from its record, the oldest first.
    package static func timeline(_ record: JobRecord) -> [Event] {
        var events = [Event(at: Moment(record.enqueued), "admitted")]
        if let claimed = record.claimed {
            events.append(
                Event(
                    at: Moment(claimed), "claimed by \(record.worker ?? "a worker")",
                    tone: StateMark(.active)))
        }
        if let ended = record.ended {
            let outcome = record.outcome ?? record.state.rawValue
            events.append(
                Event(
                    at: Moment(ended), outcome + (record.code.map { ": \($0.rawValue)" } ?? ""),
                    tone: StateMark(job: outcome)))
        }
        return events
    }

    package static func facts(_ record: JobRecord) -> [Fact] {
        var facts = [
            Fact("Tenant", record.tenant), Fact("Priority", record.priority),
        ]
        if let batch = record.batch { facts.append(Fact("Batch", batch, href: Links.batch(batch))) }
        facts += [
            Fact("Attempts", "\(record.attempts)"), Fact("Crashes", "\(record.crashes)"),
            Fact("Generation", "\(record.generation)"),
        ]
        if let worker = record.worker { facts.append(Fact("Worker", worker)) }
        if let stage = record.stage { facts.append(Fact("Stage", stage)) }
        if let version = record.version { facts.append(Fact("Version", version)) }
        return facts
    }
}

/// A failed attempt, with the reason.
package struct AttemptRow: View {
    let at: Moment
    let code: String
    let message: String
    let stage: String?
    let signal: String?
    let worker: String
    let advice: String?

    package init(
        at: Moment, code: String, message: String, stage: String?, signal: Int?, worker: String
    ) {
        self.at = at
        self.code = code
        self.message = message
        self.stage = stage
        self.signal = signal.map(Self.name)
        self.worker = worker
        advice = FailureCode(rawValue: code)?.advice
    }

    package init(_ attempt: Attempt) {
        self.init(
            at: Moment(written: attempt.at), code: attempt.code.rawValue, message: attempt.message,
            stage: attempt.stage, signal: attempt.signal, worker: attempt.worker)
    }

    /// Returns Linux's name of a signal that can kill a render child.
    private static func name(of signal: Int) -> String {
        let names = [
            4: "SIGILL", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE", 9: "SIGKILL", 11: "SIGSEGV",
            15: "SIGTERM", 24: "SIGXCPU", 25: "SIGXFSZ", 31: "SIGSYS",
        ]
        return names[signal] ?? "signal \(signal)"
    }
}
