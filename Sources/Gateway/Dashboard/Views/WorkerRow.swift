package import JobQueue
import Operations

/// A worker and its memory.
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
    /// Why it claims no jobs.
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
