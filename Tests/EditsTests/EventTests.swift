import Edits
import FoundationEssentials
import Testing

@Suite("Events") struct EventTests {
    private let attempt = JobEvent.Attempt(
        job: "a", asset: "a.jpg", generation: 1, attempt: 2, worker: "w")

    private func completed(_ filters: [Filter]?) -> JobEvent.Completion {
        JobEvent.Completion(
            mode: .replace, version: .init(id: "1-1", revision: 1, at: .init(path: "p")),
            render: nil, filters: filters)
    }

    /// The JSON of a value, as the queue writes it, and its JSON after it was read from there.
    private func written<Value: Codable & Equatable>(_ value: Value) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let json = try encoder.encode(value)
        #expect(try JSONDecoder().decode(Value.self, from: json) == value)
        return String(decoding: json, as: UTF8.self)
    }

    @Test func `an attempt, its result and its files stand side by side in JSON`() throws {
        let link = JobEvent.Link(url: "https://l", expires: "2026-01-01T00:00:00Z")
        let place = JobEvent.Place(path: "edits/p", link: link)
        let file = MadeFile(
            mediaType: "image/jpeg", size: PixelSize(width: 3, height: 2), bytes: 9, sha256: "ab")
        let completion = JobEvent.Completion(
            mode: .replace, version: .init(id: "1-7", revision: 1, at: place),
            render: .init(
                file,
                Companions(
                    gainMap: .kept, motionVideo: .dropped(reason: "cut"), leftOut: [.depth])),
            pairedVideo: .init(.init(path: "m"), file),
            previews: [.init(longestSide: 64, at: place, PixelSize(width: 64, height: 48))],
            placeholder: "data:", filters: [], reusedFrom: "b@1-1",
            timings: .init(queuedMilliseconds: 1, renderMilliseconds: 2, cpuMilliseconds: 1.5),
            peakMemoryBytes: 5, untold: [.init(version: "1-6", job: "z")])
        let linked = #""link":{"expires":"2026-01-01T00:00:00Z","url":"https://l"},"#
        #expect(
            try written(JobEvent.Completed(attempt, completion))
                == #"{"asset":"a.jpg","attempt":2,"filters":[],"generation":1,"#
                + #""job":"a","mode":"replace","pairedVideo":{"bytes":9,"height":2,"#
                + #""mediaType":"image/jpeg","path":"m","sha256":"ab","width":3},"#
                + #""peakMemoryBytes":5,"placeholder":"data:","previews":[{"height":48,"#
                + linked + #""longestSide":64,"path":"edits/p","width":64}],"#
                + #""render":{"bytes":9,"gainMap":{"outcome":"kept"},"height":2,"#
                + #""leftOut":["depth"],"mediaType":"image/jpeg","#
                + #""motionVideo":{"outcome":"dropped","reason":"cut"},"sha256":"ab","width":3},"#
                + #""reusedFrom":"b@1-1","timings":{"cpuMilliseconds":1.5,"queuedMilliseconds":1,"#
                + #""renderMilliseconds":2},"untold":[{"job":"z","version":"1-6"}],"#
                + #""version":{"id":"1-7","# + linked
                + #""path":"edits/p","revision":1},"worker":"w"}"#)
        let header = #"{"asset":"a.jpg","attempt":2,"#
        let failure = Failure(.missingAsset, "no")
        let reason = #""error":{"code":"missingAsset","message":"no","permanent":true},"#
        #expect(
            try written(JobEvent.Retried(attempt, .init(after: failure, delayMilliseconds: 3)))
                == header + #""delayMilliseconds":3,"# + reason
                + #""generation":1,"job":"a","worker":"w"}"#)
        let none = JobEvent.Attempt(
            job: "a", asset: "a.jpg", generation: 1, attempt: 2, worker: nil)
        #expect(
            try written(JobEvent.Failed(none, .init(failure)))
                == header + reason + #""generation":1,"job":"a"}"#)
        #expect(
            try written(
                JobEvent.Unchanged(attempt, .init(mode: .undo, version: nil, reason: "so")))
                == header
                + #""generation":1,"job":"a","mode":"undo","reason":"so","worker":"w"}"#)
        #expect(
            try written(
                JobEvent.Superseded(
                    attempt,
                    .init(
                        mode: .undo, version: .init(id: "2-8", revision: 2, at: .init(path: "p")),
                        by: "b", reason: "so")))
                == header + #""by":"b","generation":1,"job":"a","mode":"undo","reason":"so","#
                + #""version":{"id":"2-8","path":"p","revision":2},"worker":"w"}"#)
        #expect(
            try written(JobEvent.Previewed(attempt, .init(placeholder: "data:")))
                == header + #""generation":1,"job":"a","placeholder":"data:","worker":"w"}"#)
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
