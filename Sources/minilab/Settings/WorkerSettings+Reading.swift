import Adjustments
import Editors
import Files
import FoundationEssentials
import Glibc
package import JobQueue
import RenderProtocol
import SystemPackage
package import Worker

extension QueueSettings {
    /// Reads the times and sizes of a queue.
    package init(_ reader: inout SettingsReader) {
        self.init()
        let day = Duration.seconds(86400)
        lease = reader.value(
            .duration("lease", .seconds(1) ... .seconds(3600), default: "30s"), or: lease)
        carriesMax = reader.value(.number("carries.max", 1...1000, default: "5"), or: carriesMax)
        crashesMax = reader.value(.number("crashes.max", 1...100, default: "3"), or: crashesMax)
        retry.attemptsMax = reader.value(
            .number("retry.attempts", 1...100, default: "5"), or: retry.attemptsMax)
        retry.base = reader.value(
            .duration("retry.base", .milliseconds(10) ... .seconds(3600), default: "1s"),
            or: retry.base)
        retry.cap = reader.value(
            .duration("retry.cap", .milliseconds(10)...day, default: "5m"), or: retry.cap)
        keepDone = reader.value(
            .duration("keep.done", .seconds(1)...day * 3650, default: "24h"), or: keepDone)
        doneRecordsMax = reader.value(
            .number("keep.records", 1...10_000_000, default: "100000"), or: doneRecordsMax)
        deadMax = reader.value(
            .number("dead.records", 0...10_000_000, default: "50000"), or: deadMax)
        deadLargeMax = reader.value(
            .number("dead.large", 0...1_000_000, default: "1000"), or: deadLargeMax)
        keepDead = reader.value(
            .duration("keep.dead", .seconds(1)...day * 3650, default: "30d"), or: keepDead)
        batchIdleMax = reader.value(
            .duration("batch.idle", .seconds(1)...day * 3650, default: "24h"), or: batchIdleMax)
        eventsMax = reader.value(
            .number("keep.events", 1000...10_000_000, default: "100000"), or: eventsMax)
    }
}

extension WorkerSettings {
    /// Reads how a worker works.
    package init(_ reader: inout SettingsReader) {
        self.init(
            name: reader.value(
                .text("worker.name", "a name", default: Self.defaultName()), or: ""),
            renderExecutable: FilePath(
                reader.value(
                    .text("render.executable", "a path", default: Self.siblingExecutable()), or: "")
            ))
        slots = reader.value(
            .number("slots", 1...1024, default: "\(ProcessInfo.processInfo.activeProcessorCount)"),
            or: slots)
        limits = RenderLimits(&reader)
        resources = reader.optional(.text("resources", "the path of a folder"))
            .map { FilePath($0).absolute.string }
        renderTimeout = reader.value(
            .duration("render.timeout", .seconds(1) ... .seconds(86400), default: "5m"),
            or: renderTimeout)
        let reuse = RenderReuse(&reader)
        reusesRenders = reuse != .never
        sharesRendersAmongTenants = reuse == .tenants
        eventURLs = reader.optional(.duration("event.urls", .seconds(60) ... .seconds(7 * 86_400)))
        requiresConfinement =
            reader.value(
                .choice("require.confinement", ["true", "false"], default: "false"), or: "false")
            == "true"
        shutdownGrace = reader.value(
            .duration("shutdown.grace", .zero ... .seconds(3600), default: "20s"),
            or: shutdownGrace)
        photosPerChild = reader.value(
            .number("render.photos", 1...1_000_000, default: "200"), or: photosPerChild)
        editors = EditorRegistry(&reader)
        childBytesMax = reader.value(
            .bytes("render.memory", (64 << 20)...(1 << 45), default: "512M"), or: childBytesMax)
        memoryMax = reader.optional(
            .bytes("memory", MemoryBudget.bytesMin...MemoryBudget.bytesMax))
        memoryRoot =
            FilePath(
                reader.value(.text("memory.root", "the path of a folder", default: "/"), or: "/")
            ).absolute
        pressure = PressureSettings(&reader)
    }

    /// Host, process and something random: containers may share both host name and process number.
    static func defaultName() -> String {
        let random = String(UInt16.random(in: 0x1000...UInt16.max), radix: 16)
        return "\(ProcessInfo.processInfo.hostName)-\(getpid())-\(random)"
    }

    /// The render child beside this executable, as this machine's processor can run it.
    static func siblingExecutable() -> String {
        // Without /proc it is looked for in the working folder.
        let path = FilePath((try? FileSystem.target(ofLink: "/proc/self/exe")) ?? "")
        return RenderProgram.path(in: path.removingLastComponent()).string
    }
}

extension PressureSettings {
    /// Reads how memory is watched.
    fileprivate init(_ reader: inout SettingsReader) {
        self.init()
        watches =
            reader.value(.choice("pressure.watch", ["true", "false"], default: "true"), or: "true")
            == "true"
        stall =
            Double(reader.value(.number("pressure.stall", 1...100, default: "5"), or: 5)) / 100
        quiet = reader.value(
            .duration("pressure.quiet", .milliseconds(100) ... .seconds(600), default: "3s"),
            or: quiet)
    }
}

extension EditorRegistry {
    /// Reads which formats of adjustment data are handled.
    init(_ reader: inout SettingsReader) {
        let lookAlikes = reader.value(
            .choice("editors.lookalikes", ["true", "false"], default: "false"), or: "false")
        let tint = reader.optional(.tint)
        do {
            self = try .standard(lookAlikes: lookAlikes == "true", tint: tint)
        } catch {
            preconditionFailure("the setting has been checked: \(error)")
        }
    }
}

extension Setting where Value == (identifier: String, version: String) {
    /// The format that the app "Color Tint" was built with; its text gives none.
    fileprivate static var tint: Self {
        Setting(
            key: "editors.tint",
            expected: "an identifier and a version such as com.example.tint/1.0",
            defaultText: nil,
            parse: { text in
                let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(
                    String.init)
                guard parts.count == 2 else { return nil }
                let tint = (identifier: parts[0], version: parts[1])
                _ = try EditorRegistry.standard(tint: tint)
                return tint
            })
    }
}
