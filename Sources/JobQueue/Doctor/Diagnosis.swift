/// What the doctor found.
public struct Diagnosis: Sendable, Codable, Equatable {
    /// What was wrong and has been mended; at most ``findingsMax``.
    public var mended: [Finding] = []
    /// What is wrong; at most ``findingsMax``.
    public var open: [Finding] = []
    /// What is allowed but may cost something.
    public var warnings: [String] = []
    /// How many places of jobs were looked at. A job is looked at once for each key that has its name.
    public var places = 0
    /// How many flows were looked at.
    public var flows = 0
    /// How many batches were looked at.
    public var batches = 0

    /// Most findings that are kept of each sort; a walk goes on beyond, to mend the rest.
    public static let findingsMax = 1000

    /// Whether everything is as it must be.
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
