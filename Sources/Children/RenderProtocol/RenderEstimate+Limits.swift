extension RenderEstimate {
    /// Returns the processor time of a thread after which such a render is killed: its estimate, with room for a wrong estimate.
    ///
    /// - Parameter speed: The speed of the process that renders.
    public func cpuLimit(at speed: ProcessorSpeed) -> Duration {
        speed.scaled(max(Self.cpuLimitMin, .seconds(cpuSeconds * Self.cpuFactor)))
    }

    /// Returns the time after which such a render is killed. ``cpuLimit(at:)`` ends a busy loop; this limit ends an endless
    /// wait, and leaves room for a slow disk and for a machine with more work than processors.
    public func timeLimit(at speed: ProcessorSpeed) -> Duration {
        cpuLimit(at: speed) * Self.waitFactor
    }

    private static let cpuFactor = 20.0
    private static let cpuLimitMin: Duration = .seconds(60)
    private static let waitFactor = 5
}
