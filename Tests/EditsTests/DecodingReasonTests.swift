import Edits
import Foundation
import Testing

@Suite("Why a document cannot be read") struct DecodingReasonTests {
    private enum Kind: String, Decodable { case one }

    private struct Inner: Decodable {
        let kind: Kind?
        let numbers: [Int]
        let name: String
        let share: Double?
        let isOn: Bool?
        let map: [String: Int]?
    }

    private struct Document: Decodable {
        let inner: Inner
        let others: [Inner]?
    }

    private static let rest = #""numbers":[1],"name":"x""#

    @Test(arguments: [
        ("", "it is not valid JSON, or has a number that is out of range"),
        (#"{"inner""#, "it is not valid JSON, or has a number that is out of range"),
        ("[]", "the document is not an object"), ("null", "the document is null"),
        ("{}", "inner is missing"), (#"{"inner":{}}"#, "inner.numbers is missing"),
        (#"{"inner":{"numbers":1,"name":"x"}}"#, "inner.numbers is not a list"),
        (#"{"inner":{"numbers":[1,"x"],"name":"x"}}"#, "inner.numbers.1 is not a whole number"),
        (#"{"inner":{"numbers":[],"name":7}}"#, "inner.name is not a text"),
        (#"{"inner":{"numbers":[],"name":null}}"#, "inner.name is null"),
        ("{\"inner\":{\"share\":\"x\",\(rest)}}", "inner.share is not a number"),
        ("{\"inner\":{\"isOn\":1,\(rest)}}", "inner.isOn is not true or false"),
        ("{\"inner\":{\"map\":1,\(rest)}}", "inner.map is not an object"),
        (
            "{\"inner\":{\"kind\":\"two\",\(rest)}}",
            "inner.kind has a value that this release does not know"
        ),
        (
            "{\"inner\":{\(rest)},\"others\":[{\(rest)},{\"numbers\":[]}]}",
            "others.1.name is missing"
        ),
    ])
    func `the place and what is wrong there are told, and no type of the program`(
        json: String, expected: String
    ) throws {
        let error = #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(Document.self, from: Data(json.utf8))
        }
        #expect(error?.decodingReason == expected)
    }

    @Test func `what is no error of decoding says itself`() {
        #expect(Failure(.ioFailure, "no disk.").decodingReason == "ioFailure: no disk.")
    }
}
