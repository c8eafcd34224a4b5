import ArgumentParser
import Editing
import Editors
import Edits
import Files
import FoundationEssentials
import Glibc
package import JobQueue
import RenderPool
import RenderProtocol
import SystemPackage
package import Telemetry
package import Worker

extension QueueSettings {
    package init(_ reader: inout SettingsReader) {
        self.init()
        lease = reader.value(Settings.lease)
        carriesMax = reader.value(Settings.carriesMax)
        crashesMax = reader.value(Settings.crashesMax)
        retry.attemptsMax = reader.value(Settings.retryAttempts)
        retry.base = reader.value(Settings.retryBase)
        retry.cap = reader.value(Settings.retryCap)
        keepDone = reader.value(Settings.keepDone)
        doneRecordsMax = reader.value(Settings.keepRecords)
        deadMax = reader.value(Settings.deadRecords)
        deadLargeMax = reader.value(Settings.deadLarge)
        keepDead = reader.value(Settings.keepDead)
        batchIdleMax = reader.value(Settings.batchIdle)
        eventsMax = reader.value(Settings.keepEvents)
    }
}

extension WorkerSettings {
    package init(_ reader: inout SettingsReader) {
        self.init(
            name: reader.value(Settings.workerName),
            renderExecutable: FilePath(reader.value(Settings.renderExecutable)))
        rendering.slots = reader.value(Settings.slots)
        editing.limits = RenderLimits(&reader)
        editing.resources = reader.optional(Settings.resources).map { FilePath($0).absolute.string }
        rendering.timeout = reader.value(Settings.renderTimeout)
        let reuse = reader.value(Settings.renderReuse)
        editing.reusesRenders = reuse != .never
        editing.sharesRendersAmongTenants = reuse == .tenants
        eventURLs = reader.optional(Settings.eventURLs)
        rendering.requiresConfinement = reader.value(Settings.requireConfinement)
        shutdownGrace = reader.value(Settings.shutdownGrace)
        rendering.photosPerChild = reader.value(Settings.renderPhotos)
        editing.editors = EditorRegistry(&reader)
        rendering.childBytesMax = reader.value(Settings.renderMemory)
        rendering.memoryMax = reader.optional(Settings.memory)
        rendering.memoryRoot = FilePath(reader.value(Settings.memoryRoot)).absolute
        pressure = PressureSettings(&reader)
    }

    /// Returns host, process id and a random number, because containers may share both host name and process id.
    static func defaultName() -> String {
        let random = String(UInt16.random(in: 0x1000...UInt16.max), radix: 16)
        return "\(ProcessInfo.processInfo.hostName)-\(getpid())-\(random)"
    }

    /// Returns the render child beside this executable, in the build for this machine's processor.
    static func siblingExecutable() -> String {
        // Without /proc, the program is searched for in the working directory.
        let path = FilePath((try? FileSystem.target(ofLink: "/proc/self/exe")) ?? "")
        return RenderProgram.path(in: path.removingLastComponent()).string
    }
}

extension PressureSettings {
    fileprivate init(_ reader: inout SettingsReader) {
        self.init()
        watches = reader.value(Settings.pressureWatch)
        stall = Double(reader.value(Settings.pressureStall)) / 100
        quiet = reader.value(Settings.pressureQuiet)
    }
}

extension EditorRegistry {
    /// Reads which formats of adjustment data are supported.
    init(_ reader: inout SettingsReader) {
        let lookAlikes = reader.value(Settings.editorsLookalikes)
        let tint = reader.optional(Settings.editorsTint)
        do {
            self = try .standard(lookAlikes: lookAlikes, tint: tint)
        } catch {
            preconditionFailure("the setting has been checked: \(error)")
        }
    }
}

/// The flags that set whether and where a process sends traces.
package struct TraceOptions: ParsableArguments {
    @Option(Settings.tracesEndpoint) var tracesEndpoint: FlagValue?
    @Option(Settings.tracesFile) var tracesFile: FlagValue?
    @Option(Settings.tracesSample) var tracesSample: FlagValue?

    package init() {}

    package var flagValues: [FlagValue] { FlagValue.all(in: self) }
}

extension TraceSettings {
    /// Reads the settings. OpenTelemetry's own variables apply if ours are absent.
    package init(_ reader: inout SettingsReader) {
        self.init()
        endpoint = reader.optional(Settings.tracesEndpoint) ?? Self.usualEndpoint(&reader)
        file = reader.optional(Settings.tracesFile).map { FilePath($0).absolute }
        share = reader.value(Settings.tracesSample)
    }

    /// Reads OpenTelemetry's variables: one is the URL of traces as it is, the other is a base.
    ///
    /// Source: <https://opentelemetry.io/docs/specs/otel/protocol/exporter/>.
    private static func usualEndpoint(_ reader: inout SettingsReader) -> String? {
        let variables: [(name: String, read: (String) -> String?)] = [
            ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", { url($0) }),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", { url(ofBase: $0) }),
        ]
        for (name, read) in variables {
            guard let text = reader.environment[name], !text.isEmpty else { continue }
            if let url = read(text) { return url }
            reader.refuse(
                "\(name) = \(text.debugDescription): expected \(Settings.tracesEndpoint.syntax.expected)"
            )
        }
        return nil
    }
}

/// The settings of a worker's status port.
struct StatusSettings: Sendable {
    let host: String
    /// The port; nil for none, 0 for any free one.
    let port: Int?

    /// Reads the settings. By default there is no port, and a port listens on the loopback address only.
    init(_ reader: inout SettingsReader) {
        host = reader.value(Settings.statusAddress)
        port = reader.optional(Settings.statusPort)
    }
}
