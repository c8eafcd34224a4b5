import Files
import FoundationEssentials
import JobQueue
import SystemPackage
import Worker

/// How many workers a fleet has, and how fast they should be done.
struct FleetSettings {
    let target: ScaleTarget
    let range: ClosedRange<Int>
    let keep: Duration
    /// Whether environment or file say how many slots a worker has, and how much memory.
    private let hasSlots: Bool
    private let hasMemory: Bool

    init(_ reader: inout SettingsReader) {
        let least = reader.value(Settings.fleetMin)
        let most = reader.value(Settings.fleetMax)
        if least > most {
            reader.refuse("fleet.min is \(least) and fleet.max is \(most); expected min up to max")
        }
        range = min(least, most)...most
        let within = reader.value(Settings.fleetWithin)
        keep = reader.value(Settings.fleetKeep)
        hasSlots = reader.isSaid(Settings.slots)
        hasMemory = reader.isSaid(Settings.memory)
        var target = ScaleTarget()
        target.within = Int(within / .seconds(1))
        target.slots = 1
        // The fleet's own ends hold for its own workers; others may run elsewhere.
        target.minWorkers = 0
        target.maxWorkers = ScaleTarget.workersMax
        self.target = target
    }

    /// The flags of a worker that nobody gave: one slot, and a part of the machine's memory.
    ///
    /// - Throws: `MemoryBudgetError`, when the machine does not say how much it has.
    func workerWords(given: [String]) throws -> [String] {
        func isGiven(_ flag: String) -> Bool {
            given.contains { $0 == flag || $0.hasPrefix(flag + "=") }
        }
        var words: [String] = []
        if !hasSlots, !isGiven("--slots") { words += ["--slots", "1"] }
        if !hasMemory, !isGiven("--memory") {
            var whole = WorkerSettings(name: "", renderExecutable: "")
            try whole.boundMemory()
            let part = max(MemoryBudget.bytesMin, whole.memory.bytes / range.upperBound)
            words += ["--memory", "\(part)"]
        }
        return words
    }
}
