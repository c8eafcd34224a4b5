package import JobQueue

/// A worker and how much memory it has left.
package struct WorkerRow: View {
    let name: String
    let busy: Int
    let slots: Int
    let version: String
    let started: Moment
    let memory: Memory?
    /// `holding`, `shrinking`, `pausing`, `requeueing`.
    let pressure: String?
    let reading: String?

    struct Memory: View {
        /// Granted of the budget, in percent.
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

    /// With thousands apart; whatever a worker says.
    private static func megabytes(_ bytes: Int) -> String { grouped(bytes / 1_000_000) }
}
