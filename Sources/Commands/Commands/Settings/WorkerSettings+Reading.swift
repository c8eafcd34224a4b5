import Edits
import Editing
import Editors
import Files
import FoundationEssentials
import Glibc
package import JobQueue
import RenderPool
import RenderProtocol
import SystemPackage
package import Worker

extension QueueSettings {
    /// Reads the times and limits of a queue.
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
    /// Reads the settings of a worker.
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
    /// Reads the settings of the memory monitor.
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
