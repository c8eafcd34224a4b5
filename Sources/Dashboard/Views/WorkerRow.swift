package import JobQueue

/// A worker and its memory.
package struct WorkerRow: View {
    let name: String
    let busy: Int
    let slots: Int
    let version: String
    let started: Moment
    let memory: Memory?
    /// The level of memory pressure: `holding`, `shrinking`, `pausing`, `requeueing`.
    let pressure: String?
    let reading: String?

    struct Memory: View {
        /// The granted memory in percent of the budget.
        let percent: Int
        let text: String
        let waiting: Int?
    }

    package init(_ worker: WorkerInfo) {
        name = worker.name
        busy = worker.busy
        slots = worker.slots
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
    }

    /// Returns megabytes with thousands separators; never fails, whatever number a worker reports.
    private static func megabytes(_ bytes: Int) -> String { grouped(bytes / 1_000_000) }
}
