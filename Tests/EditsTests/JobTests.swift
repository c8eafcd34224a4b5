import Edits
import Testing

@Suite("Job") struct JobTests {
    @Test(arguments: ["a", "7", "order-77.photo_3", String(repeating: "x", count: 64), "1-0"])
    func `an id of letters, digits, dots, dashes and underscores is taken`(_ text: String) throws {
        #expect(try JobID(text).string == text)
    }

    @Test(arguments: [
        "", ".", "..", "-a", "_a", ".a", "a/b", "a b", "a\n", "é", "a:b", "a*", "a{b}", "a\u{0}",
        "a\u{301}", String(repeating: "x", count: 65), String(repeating: "x", count: 100_000),
    ])
    func `any other id is refused`(_ text: String) {
        expect(.invalidValue, naming: "is not a job id") { try JobID(text) }
    }

    @Test(arguments: [
        "a:b", "order:77:photo-3", "urn:uuid:6e8bc430-9c3a", "a:", "batch:spring", "spring:4711",
        "a::7",
    ])
    func `the id of a job may have colons, but for names of batches and of their jobs`(
        _ text: String
    ) {
        let isOurs = ["a:", "batch:spring", "spring:4711", "a::7"].contains(text)
        let id = try? JobID(ofJob: text)  // a test, which may fail
        #expect((id == nil) == isOurs, "\(text)")
    }

    @Test func `a manifest line is read`() throws {
        let job = try JobRequest(
            json: #"{"id": "a-1", "asset": "a.jpg", "edit": {"filters": [{"name": "CIEdges"}]}}"#)
        #expect(job.id == (try JobID("a-1")))
        #expect(job.asset == (try AssetPath("a.jpg")))
        #expect(job.edit == (try Edit(.replace(Edit.Steps([Filter("CIEdges")])))))
    }

    @Test func `a manifest line without an id leaves it to the stream`() throws {
        let job = try JobRequest(
            json: #"{"asset": "a.jpg", "edit": {"filters": [{"name": "CIEdges"}]}}"#)
        #expect(job.id == nil)
    }

    @Test func `an id that is null is not the same as no id`() {
        expect(.invalidValue, naming: "job.id is null") {
            try JobRequest(
                json: #"{"id": null, "asset": "a", "edit": {"filters": [{"name": "CIEdges"}]}}"#)
        }
    }

    @Test func `a manifest line of the most bytes is read and a longer one is refused`() {
        let line = #"{"asset": "a.jpg", "edit": {"filters": [{"name": "CIEdges"}]}}"#
        let rest = ContractLimits.jobBytesMax - line.utf8.count
        let longest = line + String(repeating: " ", count: rest)
        #expect(throws: Never.self) { try JobRequest(json: longest) }
        expect(.oversizedField, naming: "131073 bytes") { try JobRequest(json: longest + " ") }
    }
}
