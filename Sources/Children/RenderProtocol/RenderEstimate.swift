/// The likely needs of a render, computed from its header and plan alone.
public struct RenderEstimate: Sendable, Codable, Equatable {
    /// The highest resident set of the render child, including the process itself.
    public var memoryBytes: Int
    /// The size of its spool file.
    public var spoolBytes: Int
    /// The processor time of all its threads.
    public var cpuSeconds: Double

    /// Creates an estimate.
    public init(memoryBytes: Int, spoolBytes: Int = 0, cpuSeconds: Double) {
        self.memoryBytes = memoryBytes
        self.spoolBytes = spoolBytes
        self.cpuSeconds = cpuSeconds
    }

    /// The estimate of a request that renders nothing.
    public static let nothing = RenderEstimate(memoryBytes: 0, cpuSeconds: 0)
}

extension RenderEstimate: CustomStringConvertible {
    public var description: String {
        func megabytes(_ bytes: Int) -> String { "\((bytes + 500_000) / 1_000_000) MB" }
        let spool = spoolBytes > 0 ? ", \(megabytes(spoolBytes)) of disk" : ""
        let tenths = Int((cpuSeconds * 10).rounded(.up))
        return "about \(megabytes(memoryBytes))\(spool), \(tenths / 10).\(tenths % 10) s of a core"
    }
}
