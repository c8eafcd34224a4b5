public import SystemPackage

/// The settings of a pool of render children.
public struct RenderSettings: Sendable {
    /// The render child's executable.
    public var executable: FilePath
    /// The number of photos that are rendered at the same time, with one render child each.
    public var slots: Int
    /// The time limit of one render, after which its child is killed.
    public var timeout: Duration
    /// Whether rendering is refused if the kernel cannot confine render children.
    public var requiresConfinement: Bool
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

    /// Determines the memory that the render children may use together. Programs that render call it before they
    /// begin.
    ///
    /// - Throws: `MemoryBudgetError` if no child would fit, or if the available memory is unknown.
    public mutating func boundMemory() throws(MemoryBudgetError) {
        memory = try MemoryBudget(setting: memoryMax, files: MemoryFiles(root: memoryRoot))
    }

    /// Creates settings with defaults for everything but the executable.
    public init(executable: FilePath) {
        self.executable = executable
        slots = 2
        timeout = .seconds(300)
        requiresConfinement = false
        memoryRoot = "/"
        memory = .unbounded
        photosPerChild = 200
        childBytesMax = 512 << 20
    }
}
