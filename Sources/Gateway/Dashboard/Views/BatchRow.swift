import Edits
package import JobQueue
package import Operations

/// A batch in a table and at the top of its page.
package struct BatchRow: View {
    let batch: String
    let href: String
    let tenant: String
    let priority: String
    let state: StateMark
    let jobs: String
    let ended: String
    let done: String
    let dead: String
    let cancelled: String
    let hasDead: Bool
    /// The ended jobs in percent of the known ones.
    let percent: Int
    /// The estimated remaining time, `about 12:05 min`; nil if the batch has ended or there is no estimate.
    let eta: String?
    let rate: String
    let opened: Moment

    package init(_ report: BatchReport) {
        let record = report.record
        batch = record.batch
        href = Links.batch(record.batch)
        tenant = record.tenant
        priority = record.priority
        state = StateMark(record)
        jobs = grouped(record.jobs)
        ended = grouped(record.endedJobs)
        done = grouped(record.done)
        dead = grouped(record.dead)
        cancelled = grouped(record.cancelled)
        hasDead = record.dead > 0
        percent =
            record.isComplete ? 100 : portion(record.endedJobs, of: record.jobs)
        eta =
            record.isComplete
            ? nil : report.remainingSeconds.flatMap { whole($0) }.map { "about " + clock($0) }
        rate = short(report.rate)
        opened = Moment(record.opened, now: record.now)
    }
}

/// Returns a number with thousands separators: `12,400`.
package func grouped(_ number: Int) -> String {
    let digits = String(number.magnitude)
    var text = number < 0 ? "−" : ""
    for (index, digit) in digits.enumerated() {
        if index > 0, (digits.count - index) % 3 == 0 { text += "," }
        text.append(digit)
    }
    return text
}

/// Returns a number of 10 or more without decimals, a smaller one with one decimal; `–` if it is not finite.
func short(_ value: Double) -> String {
    guard value.isFinite else { return "–" }
    if abs(value) >= 10 || value == value.rounded() { return whole(value).map(grouped) ?? "–" }
    let tenths = Int((abs(value) * 10).rounded())
    return (value < 0 && tenths > 0 ? "−" : "") + "\(tenths / 10).\(tenths % 10)"
}

/// Returns the nearest whole number; nil if it overflows an Int.
func whole(_ value: Double) -> Int? { Int(exactly: value.rounded()) }

/// Returns a part of a whole in percent, from 0 to 100; 0 if the whole is 0.
func portion(_ part: Int, of all: Int) -> Int {
    guard all > 0, part > 0 else { return 0 }
    return min(100, Int(Double(part) / Double(all) * 100))
}

package struct WorkerRow: View {
    let name: String
    /// The jobs in its hands and its slots. Some of these jobs may wait for a slot or for memory.
    let load: String
    let version: String
    let started: Moment
    let memory: Memory?
    /// The level of memory pressure: `holding`, `shrinking`, `pausing`, `requeueing`.
    let pressure: String?
    let reading: String?
    let trouble: String?

    struct Memory: View {
        /// The granted memory in percent of the budget.
        let percent: Int
        let text: String
        let waiting: Int?
    }

    /// - Parameter inHand: the number of jobs in its hands, counted where the page counts all jobs in hand; nil if it is not
    ///   known, so that the worker's own last report is told.
    package init(_ worker: WorkerInfo, inHand: Int?) {
        name = worker.name
        let slots = counted(worker.slots, "slot")
        load =
            inHand.map { "\(counted($0, "job")) in hand, \(slots)" }
            ?? "\(grouped(worker.busy)) of \(slots) busy at its last report"
        version = worker.version
        started = Moment(written: worker.startedAt)
        memory = worker.memory.map {
            Memory(
                percent: portion($0.grantedBytes, of: $0.budgetBytes),
                text: "\(Self.megabytes($0.grantedBytes)) of \(Self.megabytes($0.budgetBytes)) MB",
                waiting: $0.waiting > 0 ? $0.waiting : nil)
        }
        pressure = worker.pressure?.level
        reading = worker.pressure?.reading
        trouble = worker.trouble
    }

    /// Returns megabytes with thousands separators; never fails, whatever number a worker reports.
    private static func megabytes(_ bytes: Int) -> String { grouped(bytes / 1_000_000) }
}

package struct JobRow: View {
    let job: String
    let href: String
    /// The asset's name as text: characters that cannot be seen, or turn the direction of writing, by number.
    let asset: String
    let assetHref: String?
    let tenant: String
    let priority: String
    let state: StateMark
    let worker: String?
    let stage: String?
    /// The completed part of a movie, in percent.
    let progress: Int?
    let attempts: Int
    let code: String?
    let message: String?
    /// The time of the claim, or of the end of the job.
    let at: Moment?

    package init(
        job: String, asset: String, tenant: String, priority: String, state: String,
        worker: String? = nil, stage: String? = nil, progress: Int? = nil, attempts: Int = 0,
        code: String? = nil, message: String? = nil, at: Moment? = nil
    ) {
        self.job = job
        href = Links.job(job)
        self.asset = asset.printable
        assetHref = Links.assetPage(asset)
        self.tenant = tenant
        self.priority = priority
        self.state = StateMark(job: state)
        self.worker = worker
        self.stage = stage
        self.progress = progress
        self.attempts = attempts
        self.code = code
        self.message = message
        self.at = at
    }

    /// - Parameter now: the current time in ms since 1970.
    package init(_ record: JobRecord, now: Int) {
        self.init(
            job: record.job, asset: record.asset, tenant: record.tenant,
            priority: record.priority, state: record.outcome ?? record.state.rawValue,
            worker: record.worker, stage: record.stage,
            progress: record.progress.map { portion($0.framesDone, of: $0.frames) },
            attempts: record.attempts, code: record.code?.rawValue, message: record.message,
            at: (record.ended ?? record.claimed).map { Moment($0, now: now) })
    }
}

/// The ready jobs of one tenant at one priority, and its share of the work.
package struct FlowBar: View {
    let tenant: String
    let priority: String
    let ready: String
    let isCapped: Bool
    /// The length in percent of the longest bar.
    let width: Int
    let share: Share?

    /// The share of the work that a flow received, and its fair share.
    package struct Share: View {
        /// The received share, in percent.
        let had: Int
        let due: Int
        /// Whether it received clearly less than its fair share: under three quarters.
        let isShort: Bool

        /// - Parameters: shares from 0 to 1.
        package init(had: Double, due: Double) {
            func percent(_ value: Double) -> Int {
                value.isFinite ? Int(min(max(value, 0), 1) * 100) : 0
            }
            self.had = percent(had)
            self.due = percent(due)
            isShort = had < due * 0.75
        }
    }

    /// - Parameter most: the number of ready jobs of the largest flow.
    package init(_ flow: QueueStatus.Flow, most: Int, share: Share? = nil) {
        tenant = flow.tenant
        priority = flow.priority
        ready = grouped(flow.ready)
        isCapped = flow.isCapped
        width = flow.ready > 0 ? max(1, portion(flow.ready, of: most)) : 0
        self.share = share
    }
}
