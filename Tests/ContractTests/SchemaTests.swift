import Adjustments
import MinilabTesting
import Testing

@Suite("The schemas and the code say the same") struct SchemaTests {
    @Test func `the schema lists the filters of the catalogue`() throws {
        let schema = try Schema.edit()
        let listed = schema["$defs", "filter", "oneOf"]?.values?.compactMap {
            $0.fields?["$ref"]?.text
        }
        #expect(listed == FilterCatalogue.all.map { "#/$defs/\($0.name)" }.sorted())
    }

    @Test(arguments: FilterCatalogue.all.map(\.name))
    func `a filter has the same parameters in both`(_ name: String) throws {
        let schema = try Schema.edit()
        let filter = try #require(FilterCatalogue.definition(named: name))
        let properties = try #require(schema["$defs", name, "properties"]?.fields)
        #expect(schema["$defs", name, "description"]?.text == filter.summary)
        #expect(properties["name"] == .object(["const": .string(name)]))
        #expect(
            Set(properties.keys)
                == Set(filter.parameters.flatMap { [$0.name, $0.shortName] } + ["name"]))
        for parameter in filter.parameters {
            let definition = "\(name).\(parameter.name)"
            let reference = JSONValue.object(["$ref": .string("#/$defs/\(definition)")])
            #expect(properties[parameter.name] == reference)
            #expect(properties[parameter.shortName] == reference)
            #expect(schema["$defs", definition, "minimum"]?.double == parameter.range.lowerBound)
            #expect(schema["$defs", definition, "maximum"]?.double == parameter.range.upperBound)
            #expect(schema["$defs", definition, "default"]?.double == parameter.defaultValue)
        }
    }

    /// Both judges on both sides of every limit, and on a parameter that is given by both its names.
    @Test func `schema and decoder draw the same line at every parameter's limits`() throws {
        var texts: [String] = []
        for filter in FilterCatalogue.all {
            for parameter in filter.parameters {
                let range = parameter.range
                for value in [
                    range.lowerBound, range.upperBound, parameter.defaultValue,
                    range.lowerBound.nextDown, range.upperBound.nextUp,
                ] {
                    texts.append(edit(filter.name, [parameter.name: value]))
                    texts.append(edit(filter.name, [parameter.shortName: value]))
                }
                texts.append(
                    edit(
                        filter.name,
                        [
                            parameter.name: parameter.defaultValue,
                            parameter.shortName: parameter.defaultValue,
                        ]))
            }
        }
        for (text, refusal) in zip(texts, try Schema.edit().refusals(of: texts)) {
            #expect((refusal == nil) == accepts { try Recipe(json: text) }, "\(text)")
        }
    }

    @Test(arguments: [
        "a", "a/b", "..a", "a..", "...", ".hidden", "a b/ü.jpg", "a\\..\\b", "~", "a:b",
        "", "/", "/a", "a/", "a//b", ".", "./a", "a/.", "a/./b", "..", "../a", "a/..", "a/../b",
        "a\n", "\na", "a\u{0}b", "a\u{7f}b", "a\u{85}b", "/\u{301}a", "../\u{301}a",
        "..\u{301}/a", ".\u{200d}./a", String(repeating: "x", count: 255),
        String(repeating: "x", count: 256), String(repeating: "x/", count: 512),
        String(repeating: "x/", count: 512) + "x", String(repeating: "x/", count: 511) + "xy",
    ])
    func `schema and decoder agree on an asset's path`(_ asset: String) throws {
        let text = JSONValue.object([
            "asset": .string(asset),
            "edit": .object(["filters": .array([.object(["name": .string("CIColorInvert")])])]),
        ]).canonical
        let refusal = try Schema.job().refusals(of: [text])[0]
        #expect((refusal == nil) == accepts { try JobRequest(json: text) }, "\(asset)")
    }

    @Test func `the limits are those of the code`() throws {
        let edit = try Schema.edit()
        let job = try Schema.job()
        #expect(edit["x-maxBytes"]?.double == Double(ContractLimits.editBytesMax))
        #expect(
            edit["properties", "filters", "maxItems"]?.double == Double(ContractLimits.filtersMax))
        #expect(edit["$defs", "side", "maximum"]?.double == Double(ContractLimits.referenceSideMax))
        #expect(
            edit["properties", "output", "properties", "quality", "default"]?.double
                == Recipe.Output.defaultQuality)
        #expect(
            edit["properties", "output", "properties", "format", "enum"]
                == .array(Recipe.Format.allCases.map { .string($0.rawValue) }))
        #expect(job["x-maxBytes"]?.double == Double(ContractLimits.jobBytesMax))
        for limit in ["x-maxBytes", "maxLength"] {
            #expect(
                job["properties", "asset", limit]?.double == Double(ContractLimits.assetBytesMax))
        }
        #expect(
            job["properties", "id", "maxLength"]?.double == Double(ContractLimits.jobIDLengthMax))
    }

    @Test func `an event's codes, filters, formats and limits are those of the code`() throws {
        let event = try Schema.event()
        #expect(
            event["$defs", "error", "properties", "code", "enum"]
                == .array(FailureCode.allCases.map { .string($0.rawValue) }))
        #expect(
            event["$defs", "message", "maxLength"]?.double
                == Double(Failure.messageLengthMax))
        #expect(event["$defs", "job", "maxLength"]?.double == Double(ContractLimits.jobIDLengthMax))
        let data = event["$defs", "completed", "properties", "data"]?.fields?["properties"]?.fields
        #expect(
            data?["filters"]?.fields?["items"]
                == .object(["$ref": .string("edit.schema.json#/$defs/filter")]))
        #expect(
            data?["filters"]?.fields?["maxItems"]?.double == Double(ContractLimits.filtersMax))
        #expect(
            data?["render"]?.fields?["properties"]?.fields?["mediaType"]?.fields?["enum"]
                == .array(Recipe.Format.allCases.map { .string($0.mediaType) }))
    }

    /// A reader of a schema sees for each field what it is, what it does, and how it looks.
    @Test(arguments: ["edit", "job", "event"])
    func `every field is explained`(_ name: String) throws {
        let schema = try JSONValue(parsing: Contract.text("\(name).schema.json"), as: name)
        var unexplained: [String] = []
        func visit(_ value: JSONValue, at path: String) {
            if let properties = value.fields?["properties"]?.fields {
                for (field, definition) in properties {
                    let known = Set(definition.fields?.keys.map { $0 } ?? [])
                    let isExplained =
                        known.contains("$ref") || known.contains("const")
                        || known.isSuperset(of: ["title", "description"])
                    if !isExplained { unexplained.append("\(path).\(field)") }
                }
            }
            for (field, value) in value.fields ?? [:] { visit(value, at: "\(path).\(field)") }
        }
        visit(schema, at: name)
        #expect(unexplained.isEmpty)
    }

    private func edit(_ filter: String, _ parameters: [String: Double]) -> String {
        var fields = parameters.mapValues(JSONValue.number)
        fields["name"] = .string(filter)
        return JSONValue.object(["filters": .array([.object(fields)])]).canonical
    }

    private func accepts(_ body: () throws -> some Any) -> Bool {
        do {
            _ = try body()
            return true
        } catch {
            return false
        }
    }
}
