import JobQueue
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
    /// The jobs that end per second.
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
