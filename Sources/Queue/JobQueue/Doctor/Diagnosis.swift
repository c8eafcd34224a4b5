/// The result of `minilab doctor`.
public struct Diagnosis: Sendable, Codable, Equatable {
    /// The faults that were repaired; at most ``findingsMax``.
    public var mended: [Finding] = []
    /// The faults that remain; at most ``findingsMax``.
    public var open: [Finding] = []
    /// Conditions that are valid but may have a cost.
    public var warnings: [String] = []
    /// The number of places of jobs that were inspected. A job is inspected once for each key that has its name.
    public var places = 0
    /// The number of flows that were inspected.
    public var flows = 0
    /// The number of batches that were inspected.
    public var batches = 0

    /// The maximum number of findings kept of each kind. The walk continues beyond it, to repair the rest.
    public static let findingsMax = 1000

    /// Whether no fault remains.
    public var isHealthy: Bool { open.isEmpty }

    mutating func add(_ finding: Finding) {
        if finding.isMended {
            if mended.count < Self.findingsMax { mended.append(finding) }
        } else if finding.isWarning {
            if warnings.count < Self.findingsMax { warnings.append(finding.sentence) }
        } else if open.count < Self.findingsMax, !open.contains(finding) {
            open.append(finding)
        }
    }
}
