import Edits
import Foundation
import MinilabTesting
import Testing

/// The examples of version 0.1, copied: clients that were written by them still run.
@Suite("Examples of version 0.1") struct OlderContractTests {
    private static func examples(_ kind: String) throws -> [Example] {
        let path = Repository.fixture("Contracts/\(kind)-0.1.ndjson")
        let lines = try String(contentsOf: path, encoding: .utf8).split(separator: "\n")
        try #require(!lines.isEmpty)
        return lines.enumerated().map { index, line in
            Example(name: "\(kind)-0.1.ndjson:\(index + 1)", text: String(line))
        }
    }

    /// The fields of a value with the kinds of their values, by path. Elements of a list share one path.
    private static func fields(_ value: JSONValue, _ path: String = "") -> Set<String> {
        switch value {
        case .array(let values):
            values.reduce(into: []) { $0.formUnion(fields($1, path + "[]")) }
        case .object(let object):
            object.reduce(into: []) { found, field in
                let name = path + "." + field.key
                found.insert("\(name): \(field.value.kind)")
                found.formUnion(fields(field.value, name))
            }
        default: []
        }
    }

    @Test func `every edit still fits the schema and is read`() throws {
        let examples = try Self.examples("edits")
        for (example, refusal) in zip(
            examples, try Schema.edit().refusals(of: examples.map(\.text)))
        {
            #expect(refusal == nil, "\(example)")
            #expect(throws: Never.self, "\(example)") { try Edit(json: example.text) }
        }
    }

    @Test func `every job still fits the schema and is read`() throws {
        let examples = try Self.examples("jobs")
        for (example, refusal) in zip(examples, try Schema.job().refusals(of: examples.map(\.text)))
        {
            #expect(refusal == nil, "\(example)")
            #expect(throws: Never.self, "\(example)") { try JobRequest(json: example.text) }
        }
    }

    /// Events may have gained fields. Those of today fit the schema that ``ExampleTests`` checks.
    @Test func `every field of an event is still a field of that event, of the same kind`() throws {
        var today: [String: Set<String>] = [:]
        for example in try Contract.examples("events") {
            let event = try JSONValue(parsing: example.text, as: example.name)
            let type = try #require(event.fields?["type"]?.text)
            today[type, default: []].formUnion(Self.fields(event))
        }
        for example in try Self.examples("events") {
            let event = try JSONValue(parsing: example.text, as: example.name)
            let type = try #require(event.fields?["type"]?.text)
            let known = try #require(today[type], "\(example)")
            let missing = Self.fields(event).subtracting(known)
            #expect(missing.isEmpty, "\(example): \(missing.sorted())")
        }
    }
}
