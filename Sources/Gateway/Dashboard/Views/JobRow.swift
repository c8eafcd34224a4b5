import Edits
package import JobQueue

/// A job in a table.
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
