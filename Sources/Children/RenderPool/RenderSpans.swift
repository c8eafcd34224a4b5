import Glibc
import RenderProtocol
import Tracing

/// The attributes of a render child in the span of a request to it.
extension Span {
    /// Adds an event for a step that the child reports, at the time of the report.
    func note(_ done: RenderReply.Progress) {
        guard isRecording else { return }
        switch done {
        case .written(let index):
            addEvent(SpanEvent(name: "written", attributes: ["output": .int64(Int64(index))]))
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
        }
    }
}
