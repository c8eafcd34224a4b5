import FoundationEssentials
import JobQueue

/// The settings of a fleet's size.
extension Settings {
    static let fleetMin = Setting(
        "fleet.min", flag: "min", .number(0...1024), default: 1,
        help: "Workers at least, also without work")
    static let fleetMax = Setting(
        "fleet.max", flag: "max", .number(1...1024),
        default: ProcessInfo.processInfo.activeProcessorCount,
        "one per core", help: "Workers at most")
    static let fleetWithin = Setting(
        "fleet.within", flag: "within", .duration(.seconds(1) ... .seconds(86_400)),
        default: .seconds(ScaleTarget().within),
        help: "The time in which the waiting work should be done")
    static let fleetKeep = Setting(
        "fleet.keep", flag: "keep", .duration(.zero ... .seconds(86_400)),
        default: ScaleHistory.keepUsual,
        help: "Time for which workers are kept after they were last needed")
}
