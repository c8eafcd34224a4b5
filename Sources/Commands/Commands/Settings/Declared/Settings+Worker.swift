import Editors
import Files
import FoundationEssentials
import Glibc
import Operations
import RenderPool
import RenderProtocol
import SystemPackage
import Worker

/// The settings of a worker.
extension Settings {
    private static let defaults = WorkerSettings(name: "", renderExecutable: "")

    package static let workerName = Setting(
        "worker.name", .text("a name"), default: WorkerSettings.defaultName(),
        "host, process, something random", help: "The worker's name in events and logs")
    package static let slots = Setting(
        "slots", .number(1...1024), default: ProcessInfo.processInfo.activeProcessorCount,
        "one per core",
        help: "Jobs at the same time")
    package static let resources = Setting(
        "resources", .text("the path of a folder"),
        help: "The folder of files that edits name by digest: masks, watermarks, tables")
    package static let requireConfinement = Setting(
        "require.confinement", .truth, default: defaults.rendering.requiresConfinement,
        help: "Refuse to render if this machine cannot confine render children")
    package static let shutdownGrace = Setting(
        "shutdown.grace", .duration(.zero ... .seconds(3600)), default: defaults.shutdownGrace,
        help: "Time for which running jobs may continue after SIGTERM")
    package static let eventURLs = Setting(
        "event.urls", .duration(.seconds(60) ... .seconds(7 * 86_400)), default: nil,
        "they get none",
        help: "With a library in a bucket: how long the presigned URLs hold that events get")
}

/// The settings of rendering.
extension Settings {
    package static let renderExecutable = Setting(
        "render.executable", .text("a path"), default: WorkerSettings.siblingExecutable(),
        "beside minilab", help: "Where minilab-render is")
    package static let renderTimeout = Setting(
        "render.timeout", .duration(.seconds(1) ... .seconds(86400)),
        default: defaults.rendering.timeout,
        help: "Maximum duration of a render")
    package static let renderPhotos = Setting(
        "render.photos", .number(1...1_000_000), default: defaults.rendering.photosPerChild,
        help: "Photos after which a render child is replaced")
    package static let renderMemory = Setting(
        "render.memory", .bytes((64 << 20)...(1 << 45)), default: defaults.rendering.childBytesMax,
        help: "Peak memory after which a render child is replaced")
    static let renderReuse = Setting<RenderReuse>(
        "render.reuse", .choice, default: .free,
        help:
            "Whether the render of the same photo with the same edit is used again; in a bucket, true means within an asset, "
            + "and library among all assets, for two requests more a render. Always among the jobs of one tenant, but with "
            + "tenants, which is library for all of them together")
    static let editorsLookalikes = Setting(
        "editors.lookalikes", .truth, default: false,
        help:
            "Whether tone and colour of Apple's Photos are rendered about alike. False: such an edit cannot be handled, and "
            + "the next one is made on its render")
    static let editorsTint = Setting(
        "editors.tint",
        ValueSyntax<(identifier: String, version: String)>(
            "an identifier and a version such as com.example.tint/1.0",
            placeholder: "identifier/version"
        ) { text in
            let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(
                String.init)
            guard parts.count == 2 else { return nil }
            let tint = (identifier: parts[0], version: parts[1])
            _ = try EditorRegistry.standard(tint: tint)
            return tint
        }, help: "The format of the app Color Tint, which its text leaves open")
}

/// The settings of memory and its monitor.
extension Settings {
    package static let memory = Setting(
        "memory", .bytes(MemoryBudget.bytesMin...MemoryBudget.bytesMax), default: nil,
        "what the control group's limit leaves, else half of the machine's available memory",
        help: "Memory that all render children together may use")
    package static let memoryRoot = Setting(
        "memory.root", .text("the path of a folder"), default: "/",
        help: "The folder that contains the kernel's files about memory")
    package static let pressureWatch = Setting(
        "pressure.watch", .truth, default: PressureSettings().watches,
        help: "Whether less is done at a time while memory is short")
    package static let pressureStall = Setting(
        "pressure.stall", .number(1...100),
        default: Int((PressureSettings().stall * 100).rounded()),
        help:
            "The percentage of time with tasks waiting for memory from which memory counts as short"
    )
    package static let pressureQuiet = Setting(
        "pressure.quiet", .duration(.milliseconds(100) ... .seconds(600)),
        default: PressureSettings().quiet,
        help: "Time without a shortage of memory before the next restriction is lifted")
}

/// The settings of the status port.
extension Settings {
    package static let statusPort = Setting(
        "status.port", .number(0...65535), default: nil, "none is opened",
        help: "The port of /metrics, /healthz and /readyz; 0 is any free one")
    package static let statusAddress = Setting(
        "status.address", .text("an address of this machine"), default: "127.0.0.1",
        "127.0.0.1, this machine alone", help: "The address of the status port")
}
