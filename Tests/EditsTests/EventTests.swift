import Edits
import Testing

@Suite("Events") struct EventTests {
    private func completed(_ filters: [Filter]?) -> JobEvent.Completed {
        JobEvent.Completed(
            job: "a", asset: "a.jpg", generation: 1, attempt: 1, worker: "w", mode: .replace,
            version: JobEvent.Version(id: "1-1", revision: 1, path: "p"), render: nil,
            filters: filters,
            timings: JobEvent.Timings(
                queuedMilliseconds: 0, renderMilliseconds: 0, cpuMilliseconds: 0),
            peakMemoryBytes: 0)
    }

    @Test func `filters are told up to their limit, and a table of colours is not`() throws {
        let few = [try Filter("CISepiaTone", ["intensity": 0.8]), try Filter("CIEdges")]
        #expect(completed(few).filters == few)
        #expect(completed(nil).filters == nil)
        let numbers = Array(repeating: "0.5", count: 8 * 8 * 8 * 4).joined(separator: ",")
        let edit = try Edit(
            json: #"{"filters":[{"name":"CIColorCube","inputCubeDimension":8,"inputCubeData":["#
                + numbers + "]}]}")
        guard case .replace(let steps) = edit.mode else { return #expect(Bool(false)) }
        #expect(steps.filters.count == 1 && completed(steps.filters).filters == nil)
        let many = Array(repeating: few[0], count: 32)
        #expect(completed(many).filters == nil)
    }
}
