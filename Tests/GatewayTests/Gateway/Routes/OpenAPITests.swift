import Edits
import Foundation
import MinilabTesting
import Testing

@testable import Gateway

/// The document that clients are written against, judged by tools that share no code with ours.
@Suite("the OpenAPI document") struct OpenAPITests {
    private static func document() throws -> JSONValue {
        OpenAPI.document(RouteTable.described, schemas: Schemas.all)
    }

    /// Debian 12 has none that reads 3.1; `pip install openapi-spec-validator` has.
    private static var hasJudge: Bool {
        do {
            _ = try Tool.run("/usr/bin/env", ["python3", "-c", "import openapi_spec_validator"])
            return true
        } catch {
            return false
        }
    }

    @Test(.enabled(if: hasJudge, "python3 has no openapi_spec_validator"))
    func `it is valid OpenAPI 3 point 1`() throws {
        let judge = """
            import json, sys
            from openapi_spec_validator import OpenAPIV31SpecValidator
            for error in OpenAPIV31SpecValidator(json.load(sys.stdin)).iter_errors(): print(error.message[:500])
            """
        let errors = try Tool.run(
            "/usr/bin/env", ["python3", "-c", judge],
            input: Data(try Self.document().canonical.utf8))
        #expect(String(decoding: errors, as: UTF8.self) == "")
    }

    /// The routes with their answers, parameters and bodies, and the fields of the schemas, a line each.
    private static func surface(of document: JSONValue) -> Set<String> {
        var lines: Set<String> = []
        for (path, methods) in document["paths"]?.fields ?? [:] {
            for (method, route) in methods.fields ?? [:] {
                let name = method.uppercased() + " " + path
                for status in (route["responses"]?.fields ?? [:]).keys {
                    lines.insert("\(name): \(status)")
                }
                for parameter in route["parameters"]?.values ?? [] {
                    lines.insert(
                        "\(name): \(parameter["in"]?.text ?? "") \(parameter["name"]?.text ?? "")")
                }
                addFields(of: route, name, &lines)
            }
        }
        for (name, schema) in document["components"]?["schemas"]?.fields ?? [:] {
            addFields(of: schema, name, &lines)
        }
        return lines
    }

    private static func addFields(of value: JSONValue, _ path: String, _ lines: inout Set<String>) {
        switch value {
        case .array(let values): for value in values { addFields(of: value, path, &lines) }
        case .object(let object):
            for (key, value) in object {
                guard key == "properties", let properties = value.fields else {
                    addFields(of: value, path, &lines)
                    continue
                }
                for (name, property) in properties {
                    lines.insert("\(path).\(name)")
                    addFields(of: property, "\(path).\(name)", &lines)
                }
            }
        default: break
        }
    }

    /// The list is that of version 0.4. Routes, answers and fields may be added to it, and none removed.
    @Test func `it has every route, answer, parameter and field of before`() throws {
        let surface = Self.surface(of: try Self.document())
        let path = Repository.fixture("Contracts/api-0.4.txt")
        let before = try String(contentsOf: path, encoding: .utf8).split(separator: "\n")
        #expect(before.count > 300)
        for line in before { #expect(surface.contains(String(line)), "\(line)") }
    }

    @Test func `every reference in it leads somewhere`() throws {
        let document = try Self.document()
        func check(_ value: JSONValue) {
            switch value {
            case .array(let values): for value in values { check(value) }
            case .object(let fields):
                if case .string(let target)? = fields["$ref"] {
                    let found = target.split(separator: "/").dropFirst()
                        .reduce(Optional(document)) { $0?[String($1)] }
                    #expect(target.hasPrefix("#/") && found != nil, "\(target)")
                }
                for value in fields.values { check(value) }
            default: break
            }
        }
        check(document)
    }

    @Test(arguments: ["Job", "Edit", "Event"])
    func `jobs, edits and events in it are those of the contract`(_ name: String) throws {
        let folder = try TemporaryFolder()
        let schema = JSONValue.object([
            "$schema": .string("https://json-schema.org/draft/2020-12/schema"),
            "$ref": .string("#/components/schemas/\(name)"),
            "components": try #require(try Self.document()["components"]),
        ])
        try Data(schema.canonical.utf8).write(to: URL(filePath: folder.file("schema.json")))
        let contract =
            switch name {
            case "Job": try Schema.job()
            case "Edit": try Schema.edit()
            default: try Schema.event()
            }
        let examples = try ["jobs", "edits", "events", "invalid"].flatMap(Contract.examples)
        #expect(examples.count > 10)
        let texts = examples.map(\.text)
        let output = try Tool.run(
            "/usr/bin/python3",
            [
                Contract.toolFolder.appending(path: "validate.py").path,
                folder.file("schema.json"),
            ], input: JSONEncoder().encode(texts))
        let refusals = try JSONDecoder().decode([String?].self, from: output)
        let own = try contract.refusals(of: texts)
        #expect(own.contains { $0 == nil } && own.contains { $0 != nil })
        for (index, example) in examples.enumerated() {
            #expect((refusals[index] == nil) == (own[index] == nil), "\(example)")
        }
    }
}
