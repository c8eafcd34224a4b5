import Files
import FoundationEssentials
import JobQueue
import RenderPool
import SystemPackage
import Worker

/// The settings of a fleet: the number of its workers, and the time in which they should finish the work.
struct FleetSettings {
    let target: ScaleTarget
    let range: ClosedRange<Int>
    let keep: Duration
    /// Whether the environment or the file sets the slots of a worker, and whether they set its memory.
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
        hasSlots = reader.isSet(Settings.slots)
        hasMemory = reader.isSet(Settings.memory)
        var target = ScaleTarget()
        target.within = Int(within / .seconds(1))
        target.slots = 1
        // The fleet's range applies to its own workers; others may run on other machines.
        target.minWorkers = 0
        target.maxWorkers = ScaleTarget.workersMax
        self.target = target
    }

    /// Returns defaults for the worker flags that are not set: one slot, and a share of the machine's memory.
    ///
    /// - Throws: `MemoryBudgetError` if the machine's memory is unknown.
    func workerArguments(given: [String]) throws -> [String] {
        func isGiven(_ flag: String) -> Bool {
            given.contains { $0 == flag || $0.hasPrefix(flag + "=") }
        }
        var arguments: [String] = []
        if !hasSlots, !isGiven("--slots") { arguments += ["--slots", "1"] }
        if !hasMemory, !isGiven("--memory") {
            var whole = RenderSettings(executable: "")
            try whole.boundMemory()
            let part = max(MemoryBudget.bytesMin, whole.memory.bytes / range.upperBound)
            arguments += ["--memory", "\(part)"]
        }
        return arguments
    }
}
