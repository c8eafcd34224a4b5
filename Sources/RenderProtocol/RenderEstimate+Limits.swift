extension RenderEstimate {
    /// How long such a render may take before it is killed: its estimate, and room for a slow disk, a machine with
    /// more to do than processors, and an estimate that is wrong.
    public var timeLimit: Duration {
        max(Self.timeLimitMin, .seconds(cpuSeconds * Self.timeFactor))
    }

    private static let timeFactor = 20.0
    private static let timeLimitMin: Duration = .seconds(60)
}
