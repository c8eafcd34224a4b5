public import Editors
import FoundationEssentials
public import JobQueue
public import RenderProtocol
public import SystemPackage

/// How one worker process works.
public struct WorkerSettings: Sendable {
    /// Who it is, for people: in events, in status, in logs.
    public var name: String
    /// Jobs that it works on at the same time: one render child each.
    public var slots: Int
    /// The render child's executable.
    public var renderExecutable: FilePath
    /// What a render refuses.
    public var limits: RenderLimits
    /// Absolute path of the folder of files that edits name by digest, or nil when there is none.
    public var resources: String?
    /// Which formats of adjustment data it can read.
    public var editors: EditorRegistry
    /// How long one render may take before its child is killed.
    public var renderTimeout: Duration
    /// How long URLs of what was made hold that events have; nil: events have none.
    public var eventURLs: Duration?
    /// Whether nothing is rendered when the kernel cannot confine render children.
    public var requiresConfinement: Bool
    /// Whether a render that a version of the library has is used again.
    public var reusesRenders: Bool
    /// Whether it is used again for another tenant too, who learns by that which photos the first one has, and gets what a
    /// child made that had its photos. All workers of a queue likewise.
    public var sharesRendersAmongTenants: Bool
    /// How long running jobs may go on after SIGTERM before they are handed back.
    public var shutdownGrace: Duration
    /// What its render children may use together, in bytes, as the operator says; nil: the kernel is asked.
    public var memoryMax: Int?
    /// The folder below which the kernel's files about memory are.
    public var memoryRoot: FilePath
    /// What its render children may use together; unbounded until ``boundMemory()``.
    public private(set) var memory: MemoryBudget
    /// Photos after which a render child is replaced.
    public var photosPerChild: Int
    /// Peak memory of a render child in bytes after which it is replaced.
    public var childBytesMax: Int

    /// The folder of files to which dead jobs are moved that Redis cannot keep; nil: they stay.
    public var spillFolder: FilePath?

    /// How memory is watched.
    public var pressure = PressureSettings()

    /// Longest wait for what is cancelled before it is asked for anew.
    public static let listenWait: Duration = .seconds(20)
    /// How often staging is swept.
    public static let sweepInterval: Duration = .seconds(300)
    /// Longest wait between attempts to reach Redis.
    public static let backoffMax: Duration = .seconds(5)

    /// Decides what the render children may use together: for those who render, before they begin.
    ///
    /// - Throws: `MemoryBudgetError` when no child would fit, or when nothing is known.
    public mutating func boundMemory() throws(MemoryBudgetError) {
        memory = try MemoryBudget(setting: memoryMax, files: MemoryFiles(root: memoryRoot))
    }

    /// Settings with the defaults of all but the name and the executable.
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
    /// What a worker with these settings, which starts now, says of itself.
    public init(_ settings: WorkerSettings) {
        self.init(
            name: settings.name, slots: settings.slots, version: Engine.name,
            startedAt: Date.now.formatted(.iso8601))
    }
}
