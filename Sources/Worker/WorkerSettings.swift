public import Editors
import FoundationEssentials
public import JobQueue
public import RenderProtocol
public import SystemPackage

/// The settings of one worker process.
public struct WorkerSettings: Sendable {
    /// The worker's name, shown in events, status and logs.
    public var name: String
    /// The number of jobs that the worker renders at the same time, with one render child each.
    public var slots: Int
    /// The render child's executable.
    public var renderExecutable: FilePath
    /// The limits beyond which a render is refused.
    public var limits: RenderLimits
    /// The absolute path of the folder of resources that edits name by digest; nil: none.
    public var resources: String?
    /// The formats of adjustment data that the worker can read.
    public var editors: EditorRegistry
    /// The time limit of one render, after which its child is killed.
    public var renderTimeout: Duration
    /// How long the URLs of results in events stay valid; nil: events have no URLs.
    public var eventURLs: Duration?
    /// Whether rendering is refused if the kernel cannot confine render children.
    public var requiresConfinement: Bool
    /// Whether a render that a version of the library already has is reused.
    public var reusesRenders: Bool
    /// Whether renders are also reused for other tenants. Another tenant can then learn which photos the first one
    /// has, and receives the output of a child that has read the first tenant's photos. All workers of a queue must
    /// agree on it.
    public var sharesRendersAmongTenants: Bool
    /// How long running jobs may continue after SIGTERM before they are returned to the queue.
    public var shutdownGrace: Duration
    /// The memory that all render children may use together, in bytes, as set by the operator; nil: it is read from
    /// the kernel.
    public var memoryMax: Int?
    /// The root folder of the kernel's files about memory.
    public var memoryRoot: FilePath
    /// The memory that all render children may use together; unbounded until ``boundMemory()``.
    public private(set) var memory: MemoryBudget
    /// The number of photos after which a render child is replaced.
    public var photosPerChild: Int
    /// The peak memory of a render child, in bytes, above which it is replaced.
    public var childBytesMax: Int

    /// The folder of files to which dead jobs beyond the limit of Redis are moved; nil: they stay in Redis.
    public var spillFolder: FilePath?

    /// The settings of the memory watch.
    public var pressure = PressureSettings()

    /// The longest wait for cancellations before the request is repeated.
    public static let listenWait: Duration = .seconds(20)
    /// How often staging is swept.
    public static let sweepInterval: Duration = .seconds(300)
    /// The longest wait between attempts to reach Redis.
    public static let backoffMax: Duration = .seconds(5)

    /// Determines the memory that the render children may use together. Programs that render call it before they
    /// begin.
    ///
    /// - Throws: `MemoryBudgetError` if no child would fit, or if the available memory is unknown.
    public mutating func boundMemory() throws(MemoryBudgetError) {
        memory = try MemoryBudget(setting: memoryMax, files: MemoryFiles(root: memoryRoot))
    }

    /// Creates settings with defaults for everything but the name and the executable.
    public init(name: String, renderExecutable: FilePath) {
        self.name = name
        self.renderExecutable = renderExecutable
        slots = 2
        limits = RenderLimits()
        editors = EditorRegistry([MinilabRecipe()])
        renderTimeout = .seconds(300)
        requiresConfinement = false
        reusesRenders = true
        sharesRendersAmongTenants = false
        shutdownGrace = .seconds(20)
        memoryRoot = "/"
        memory = .unbounded
        photosPerChild = 200
        childBytesMax = 512 << 20
    }
}

extension WorkerInfo {
    /// Creates the self-description of a worker that starts now with these settings.
    public init(_ settings: WorkerSettings) {
        self.init(
            name: settings.name, slots: settings.slots, version: Engine.name,
            startedAt: Date.now.formatted(.iso8601))
    }
}
