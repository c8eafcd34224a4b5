public import RenderProtocol

/// An event in the work of a pool of render children, for metrics.
public enum RenderEvent: Sendable {
    /// A render child has rendered all outputs of one photo. `isFull` tells whether they include the full picture.
    case rendered(RenderUse, Inspection, isFull: Bool)
    /// The confinement of render children on this machine.
    case confined(Confinement)
    /// The libraries that render children use.
    case libraries([LibraryVersion])
    /// The formats that these libraries fail to write or read; normally none.
    case formats(FormatGaps)
    case childStarts
    /// A render child has ended.
    case childEnded(ChildDeath)
    /// No render child can be started, for the reason in this text; nil: they can be again.
    case unavailable(String?)
    /// Memory has become short, or is no longer short.
    case pressure(PressureStep)
    /// The granted memory or the list of waiting requests has changed.
    case memory(MemoryFigures)
    /// Memory was granted, after this wait. `passed` counts earlier requests that still wait.
    case granted(bytes: Int, waited: Duration, passed: Int)

    /// The reaction to memory pressure.
    public enum PressureStep: Sendable, Equatable {
        /// The pressure level has changed, because of this reading.
        case level(PressureLevel, reading: String)
        /// A render is paused, resumed or ended.
        case render(PressureAction)
        /// The number of paused renders.
        case paused(Int)
        /// The number of idle children that are ended.
        case idleEnded(Int)
    }

    /// The receiver of events. It returns immediately and never calls back.
    public typealias Listener = @Sendable (RenderEvent) -> Void
}
