import Edits
import Testing

@Suite("Fields of an asset") struct AssetFieldsTests {
    @Test func `texts and numbers are read by name, and written as texts`() throws {
        let fields = try AssetFields(json: #"{"name": "Ada", "bib": 1815, "lap-2": 12.5}"#)
        #expect(fields.byName == ["name": "Ada", "bib": "1815", "lap-2": "12.5"])
        #expect(fields.json == #"{"bib":"1815","lap-2":"12.5","name":"Ada"}"#)
        #expect(try AssetFields(json: fields.json) == fields)
        #expect(!"\(fields) \(String(reflecting: fields))".contains("Ada"))
    }

    @Test(arguments: [
        ("[]", FailureCode.invalidValue), ("{}", .invalidValue), ("{", .malformedJSON),
        (#"{"Name": "x"}"#, .invalidValue), (#"{"1": "x"}"#, .invalidValue),
        (#"{"a_b": "x"}"#, .invalidValue), (#"{"a": null}"#, .invalidValue),
        (#"{"a": ["x"]}"#, .invalidValue), (#"{"": "x"}"#, .invalidValue),
        (#"{"\#(String(repeating: "a", count: 33))": "x"}"#, .invalidValue),
    ])
    func `anything else is refused, and no value is told`(text: String, code: FailureCode) {
        let failure = #expect(throws: Failure.self) { try AssetFields(json: text) }
        #expect(failure?.code == code)
        #expect(failure?.message.contains("\"x\"") == false)
    }

    @Test func `the most names and bytes are taken, and one more is refused`() throws {
        func fields(_ count: Int) -> String {
            "{" + (0..<count).map { #""a\#($0)": "x""# }.joined(separator: ", ") + "}"
        }
        #expect(try AssetFields(json: fields(16)).byName.count == 16)
        expect(.oversizedField, naming: "17 names") { try AssetFields(json: fields(17)) }
        func long(_ count: Int) -> String { #"{"a":"\#(String(repeating: "x", count: count))"}"# }
        #expect(throws: Never.self) { try AssetFields(json: long(1016)) }
        expect(.oversizedField, naming: "1025 bytes") { try AssetFields(json: long(1017)) }
    }

    @Test func `they are a part of a job and of its edit's digest, and not of the edit`() throws {
        let line = #"{"asset": "a.jpg", "edit": {"filters": []}, "fields": {"name": "Ada"}}"#
        let ada = try JobRequest(json: line)
        let bo = try JobRequest(json: line.replacing("Ada", with: "Bo"))
        #expect(ada.fields?.byName == ["name": "Ada"])
        #expect(ada.digest != bo.digest && ada.edit == bo.edit)
        var edit = ada.edit
        #expect(edit.digest == edit.json.digest)
        edit.fields = ada.fields
        let digest = edit.digest
        edit.fields = bo.fields
        #expect(digest != edit.digest && digest != edit.json.digest)
        #expect(!edit.json.canonical.contains("Bo"))
        #expect(
            try BatchMember(json: #"{"asset": "a.jpg", "fields": {"name": "Ada"}}"#).fields
                == ada.fields)
    }
}
