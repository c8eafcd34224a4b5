public import Editing
import FoundationEssentials
public import JobQueue
public import RenderPool
import RenderProtocol
public import SystemPackage

public struct WorkerSettings: Sendable {
    /// The worker's name, shown in events, status and logs.
    public var name: String
    public var rendering: RenderSettings
    public var editing: EditingSettings
    /// The settings of the memory watch.
    public var pressure: PressureSettings
    /// How long the URLs of results in events stay valid; nil: events have no URLs.
    public var eventURLs: Duration?
    /// How long running jobs may continue after SIGTERM before they are returned to the queue.
    public var shutdownGrace: Duration
    /// Whether the library has what the queue's Redis cannot keep: dead jobs beyond its limits, and a note that tells a Redis which has
    /// lost data.
    public var keepsOfQueue = false
    /// A folder of the disk whose space is measured; nil for none.
    public var disk: FilePath?

    /// Its library, which has to be the queue's; nil: it has none.
    public var library: QueueLibrary?

    /// The longest wait for cancellations before the request is repeated.
    public static let listenWait: Duration = .seconds(20)
    /// How often staging is swept.
    public static let sweepInterval: Duration = .seconds(300)
    /// The longest wait between attempts to reach Redis.
    public static let backoffMax: Duration = .seconds(5)

    /// Creates settings with defaults for everything but the name and the executable.
    public init(name: String, renderExecutable: FilePath) {
        self.name = name
        rendering = RenderSettings(executable: renderExecutable)
        editing = EditingSettings()
        pressure = PressureSettings()
        shutdownGrace = .seconds(20)
    }
}

extension WorkerSettings {
    /// The facts that decide which jobs this worker can do, as far as they differ from the defaults: the doctor compares workers by it.
    var machine: [String: String] {
        var machine: [String: String] = [:]
        let (own, usual) = (editing.limits, EditingSettings().limits)
        if own.pixelsMax != usual.pixelsMax { machine["render.pixels"] = "\(own.pixelsMax)" }
        for limit in RenderLimit.allCases
        where own[keyPath: limit.field] != usual[keyPath: limit.field] {
            machine["render.\(limit)"] = "\(own[keyPath: limit.field])"
        }
        if rendering.timeout != RenderSettings(executable: rendering.executable).timeout {
            machine["render.timeout"] = "\(rendering.timeout.components.seconds) s"
        }
        if !editing.editorsVariant.isEmpty { machine["editors"] = editing.editorsVariant }
        machine["resources"] = editing.resources == nil ? nil : "yes"
        if rendering.requiresConfinement { machine["require.confinement"] = "yes" }
        return machine
    }
}

extension WorkerInfo {
    /// Creates the self-description of a worker that starts now with these settings.
    public init(_ settings: WorkerSettings) {
        self.init(
            name: settings.name, slots: settings.rendering.slots, version: Engine.name,
            startedAt: Date.now.formatted(.iso8601), library: settings.library?.id,
            machine: settings.machine)
    }
}

extension WorkerInfo.Pressure {
    public init(_ shortage: PressureWatch.Shortage) {
        self.init(
            level: "\(shortage.level)", paused: shortage.paused, reading: shortage.reading)
    }
}

extension WorkerMemory {
    /// Creates the report of the memory of a worker's render children.
    public init(_ figures: MemoryFigures) {
        self.init(
            budgetBytes: figures.budgetBytes, grantedBytes: figures.grantedBytes,
            waiting: figures.waiting)
    }
}

extension JobProgress {
    public init(_ progress: MovieProgress) {
        self.init(framesDone: progress.framesDone, frames: progress.frames)
    }
}
