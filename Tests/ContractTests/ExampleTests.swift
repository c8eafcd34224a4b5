import Edits
import MinilabTesting
import Testing

@Suite("The examples in jobs/") struct ExampleTests {
    @Test func `every edit fits the schema and is read`() throws {
        let examples = try Contract.examples("edits")
        try #require(examples.count >= 5)
        for (example, refusal) in zip(
            examples, try Schema.edit().refusals(of: examples.map(\.text)))
        {
            #expect(refusal == nil, "\(example)")
            #expect(throws: Never.self, "\(example)") { try Edit(json: example.text) }
        }
    }

    @Test func `the example of each filter fits the schema and is read`() throws {
        let text = try Contract.text("filters/examples.json")
        let examples = try #require(JSONValue(parsing: text, as: "examples").fields)
        let edits = examples.mapValues { JSONValue.object(["filters": $0]).canonical }
        let names = edits.keys.sorted()
        for (name, refusal) in zip(names, try Schema.edit().refusals(of: names.map { edits[$0]! }))
        {
            #expect(refusal == nil, "\(name)")
            #expect(throws: Never.self, "\(name)") { try Edit(json: edits[name]!) }
        }
    }

    @Test func `every job fits the schema and is read`() throws {
        let examples = try Contract.examples("jobs")
        try #require(examples.count >= 3)
        for (example, refusal) in zip(examples, try Schema.job().refusals(of: examples.map(\.text)))
        {
            #expect(refusal == nil, "\(example)")
            #expect(throws: Never.self, "\(example)") { try JobRequest(json: example.text) }
        }
    }

    @Test func `every event fits the schema`() throws {
        let examples = try Contract.examples("events")
        for (example, refusal) in zip(
            examples, try Schema.event().refusals(of: examples.map(\.text)))
        {
            #expect(refusal == nil, "\(example)")
        }
    }

    @Test func `each kind of event has an example`() throws {
        let types = try Contract.examples("events").compactMap { example in
            try JSONValue(parsing: example.text, as: example.name).fields?["type"]?.text
        }
        #expect(
            Set(types) == [
                "org.minilab.job.completed", "org.minilab.job.drafted", "org.minilab.job.rendered",
                "org.minilab.job.unchanged", "org.minilab.job.superseded",
                "org.minilab.job.previewed", "org.minilab.job.progressed", "org.minilab.job.failed",
                "org.minilab.job.retried",
                "org.minilab.job.conflict", "org.minilab.job.cancelled", "org.minilab.job.stuck",
                "org.minilab.batch.completed", "org.minilab.batch.conflict",
                "org.minilab.batch.sealed", "org.minilab.stream.harmed",
            ])
    }

    @Test func `every event with a field too many is refused by the schema`() throws {
        let examples = try Contract.examples("events")
        let texts = try examples.map { example in
            var fields = try #require(JSONValue(parsing: example.text, as: example.name).fields)
            fields["extra"] = .bool(true)
            return JSONValue.object(fields).canonical
        }
        for (example, refusal) in zip(examples, try Schema.event().refusals(of: texts)) {
            #expect(refusal != nil, "\(example)")
        }
    }

    @Test func `every event with a datum too many or too few is refused by the schema`() throws {
        for example in try Contract.examples("events") {
            var event = try #require(JSONValue(parsing: example.text, as: example.name).fields)
            let data = try #require(event["data"]?.fields)
            let optional = Self.optional[event["type"]?.text ?? ""] ?? []
            var changed = data.keys.filter { !optional.contains($0) }.map { name in
                data.filter { $0.key != name }
            }
            changed.append(data.merging(["extra": .bool(true)]) { $1 })
            let texts = changed.map { data in
                event["data"] = .object(data)
                return JSONValue.object(event).canonical
            }
            let refusals = try Schema.event().refusals(of: texts)
            #expect(!refusals.contains(nil), "\(example)")
        }
    }

    /// What may be left out: a job that failed before any worker had it names none; there is no render when the
    /// original is current; an asset that nobody edited has no version.
    private static let optional: [String: Set<String>] = [
        "org.minilab.job.failed": ["worker"],
        "org.minilab.job.completed": [
            "render", "filters", "placeholder", "renditions", "missingSizes", "untold",
        ],
        "org.minilab.job.drafted": ["render", "filters", "placeholder", "renditions"],
        "org.minilab.job.unchanged": ["version"],
        "org.minilab.batch.conflict": ["dropped"],
        // Its record may have lost both.
        "org.minilab.job.stuck": ["version", "worker"],
    ]

    /// The file's name starts with the code: `unknownFilter--….json`.
    @Test func `every invalid job is refused by the schema and by us with the code of its name`()
        throws
    {
        let examples = try Contract.examples("invalid")
        let refusals = try Schema.job().refusals(of: examples.map(\.text))
        for (example, refusal) in zip(examples, refusals) {
            let code = try #require(
                FailureCode(rawValue: String(example.name.prefix { $0 != "-" })), "\(example)")
            #expect(refusal != nil, "\(example) is accepted by the schema")
            let failure = #expect(throws: Failure.self, "\(example)") {
                try JobRequest(json: example.text)
            }
            #expect(failure?.code == code, "\(example): \(failure?.description ?? "accepted")")
            #expect(code.isPermanent)
        }
    }

    @Test func `each code that a job's text can end with has an invalid example`() throws {
        let codes = Set(try Contract.examples("invalid").map { $0.name.prefix { $0 != "-" } })
        #expect(
            codes == [
                "malformedJSON", "unknownField", "missingField", "invalidValue", "oversizedField",
                "unknownFilter", "unknownParameter", "parameterOutOfRange", "assetOutsideLibrary",
            ])
    }
}
