extension RenderEstimate {
    /// Processor time of a thread after which such a render is killed: its estimate, and room for an estimate that
    /// is wrong.
    ///
    /// - Parameter speed: of the process that renders.
    public func cpuLimit(at speed: ProcessorSpeed) -> Duration {
        speed.scaled(max(Self.cpuLimitMin, .seconds(cpuSeconds * Self.cpuFactor)))
    }

    /// How long such a render may take before it is killed. A loop ends by ``cpuLimit(at:)``; this is for what waits
    /// without end, and leaves room for a slow disk and for a machine with more to do than processors.
    public func timeLimit(at speed: ProcessorSpeed) -> Duration {
        cpuLimit(at: speed) * Self.waitFactor
    }

    private static let cpuFactor = 20.0
    private static let cpuLimitMin: Duration = .seconds(60)
    private static let waitFactor = 5
}
