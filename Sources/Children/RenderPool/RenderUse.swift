import Files
import Glibc
import Edits
import RenderProtocol
import Tracing

/// What a render used: resources, measured by the worker, and libraries, as the child says.
public struct RenderUse: Sendable, Codable, Equatable {
    /// The time from request to answer, in milliseconds.
    public var wallMilliseconds: Double
    /// The processor time of all the child's threads during the request, in milliseconds.
    public var cpuMilliseconds: Double
    /// The highest resident set of the child during the request, in bytes; 0 if the kernel does not report it.
    public var peakMemoryBytes: Int
    /// The versions of the child's libraries, by name, whether or not this render used them.
    public var libraries: [String: String]

    public init(
        wallMilliseconds: Double = 0, cpuMilliseconds: Double = 0, peakMemoryBytes: Int = 0,
        libraries: [String: String] = [:]
    ) {
        self.wallMilliseconds = wallMilliseconds
        self.cpuMilliseconds = cpuMilliseconds
        self.peakMemoryBytes = peakMemoryBytes
        self.libraries = libraries
    }
}

extension RenderUse {
    /// Returns the use of two consecutive renders: times are added, and the higher peak counts. While packages are upgraded, two children
    /// may have two versions of a library; such a text agrees with no version.
    package func after(_ other: RenderUse) -> RenderUse {
        RenderUse(
            wallMilliseconds: other.wallMilliseconds + wallMilliseconds,
            cpuMilliseconds: other.cpuMilliseconds + cpuMilliseconds,
            peakMemoryBytes: max(other.peakMemoryBytes, peakMemoryBytes),
            libraries: other.libraries.merging(libraries) { $0 == $1 ? $0 : "\($0), \($1)" })
    }

    /// Returns the versions of those libraries that a result used.
    package func versions(of names: Set<String>) -> [String: String] {
        libraries.filter { names.contains($0.key) }
    }
}

/// Measures a child's resources from a moment on.
struct ChildMeter {
    private let pid: pid_t
    private let status: ProcessStatus
    private let clock = ContinuousClock()
    private let start: ContinuousClock.Instant
    private let cpuStart: Double

    /// Starts to measure, and resets the kernel's highest resident set.
    init(_ pid: pid_t, _ status: ProcessStatus) {
        self.pid = pid
        self.status = status
        start = clock.now
        cpuStart = Self.cpuSeconds(of: pid) ?? 0
        Self.resetPeak(of: pid)
    }

    var use: RenderUse {
        RenderUse(
            wallMilliseconds: (clock.now - start) / .milliseconds(1),
            cpuMilliseconds: max(0, ((Self.cpuSeconds(of: pid) ?? cpuStart) - cpuStart) * 1000),
            peakMemoryBytes: status.bytes("VmHWM") ?? 0)
    }

    /// Returns the processor time of a process, in seconds; nil if the process has ended.
    private static func cpuSeconds(of pid: pid_t) -> Double? {
        var clock = clockid_t()
        var time = timespec()
        guard clock_getcpuclockid(pid, &clock) == 0, clock_gettime(clock, &time) == 0 else {
            return nil
        }
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Resets VmHWM to the present resident set (proc(5), clear_refs, value 5). If the kernel does not permit it,
    /// the peak is that of the whole process so far: too high, never too low.
    private static func resetPeak(of pid: pid_t) {
        // The process has ended, or the kernel does not permit it.
        guard let file = try? OpenFile(opening: "/proc/\(pid)/clear_refs", O_WRONLY) else { return }
        // Refused if the process has ended meanwhile.
        try? Descriptor.write(file.descriptor, Array("5".utf8))
    }
}

/// The attributes of a render child in the span of a request to it.
extension Span {
    /// Adds an event for a step that the child reports, at the time of the report.
    func note(_ done: RenderReply.Progress) {
        guard isRecording else { return }
        switch done {
        case .written(let index):
            addEvent(SpanEvent(name: "written", attributes: ["output": .int64(Int64(index))]))
        case .made(let index, let result):
            addEvent(
                SpanEvent(
                    name: "rendition",
                    attributes: [
                        "output": .int64(Int64(index)), "encodes": .int64(Int64(result.encodes)),
                    ]))
        case .missed(let index, _):
            addEvent(SpanEvent(name: "missed", attributes: ["output": .int64(Int64(index))]))
        case .frames(let frames):
            addEvent(SpanEvent(name: "frames", attributes: ["done": .int64(Int64(frames))]))
        case .droppedMotionVideo: addEvent("motion video dropped")
        }
    }

    /// Adds the resources that the request used.
    func note(_ use: RenderUse, _ pid: pid_t?) {
        guard isRecording else { return }
        attributes["minilab.cpu_ms"] = use.cpuMilliseconds
        attributes["minilab.peak_bytes"] = use.peakMemoryBytes
        if let pid { attributes["process.pid"] = Int(pid) }
    }
}

extension RenderRequest.Work {
    /// The kind of request, for the name of a span.
    var name: String {
        switch self {
        case .inspect: "inspect"
        case .render: "render"
        case .contactSheet: "contact sheet"
        case .confinement: "confinement"
        case .tryFormat: "try format"
        case .libraries: "libraries"
        case .text: "text"
        }
    }
}
