import Edits
import Editors
import Filters
import FoundationEssentials
import Testing

@Suite("Color Tint") struct ColorTintTests {
    private let codec = WordFormat(colorTintAs: "com.example.tint", version: "2.0")

    @Test(arguments: ["red", "Red", "红色"])
    func `a colour's name in English or Chinese tints the photo`(_ name: String) throws {
        #expect(
            try codec.filters(KeyedArchive.bytes(ofRoot: name)) == [
                try Filter("CIColorMonochrome", ["color": [1, 0, 0, 1], "intensity": 1])
            ])
    }

    @Test func `a colour that is not known cannot be handled`() throws {
        let reason = try codec.reason(KeyedArchive.bytes(ofRoot: "chartreuse"))
        #expect(reason.contains("chartreuse") && reason.contains("红色"))
    }

    @Test(arguments: ["black", "darkGray", "orange", "棕色"])
    func `what is written is read as the same tint`(_ name: String) throws {
        let filters = try codec.filters(KeyedArchive.bytes(ofRoot: name))
        let data = try codec.write(try Recipe(filters: filters), for: .landscape)
        #expect(try codec.filters(data) == filters)
    }

    @Test func `a colour without a name cannot be written`() {
        expect(.adjustmentDataNotEncodable, naming: "CIColorMonochrome", "0.123") {
            try codec.write(
                try Recipe(filters: [
                    try Filter("CIColorMonochrome", ["color": [0.123, 0, 0, 1]])
                ]), for: .landscape)
        }
    }

    @Test func `a bare word is undecodable, for the editor archives`() {
        expect(.adjustmentDataUndecodable, naming: "com.example.tint") {
            try codec.read(Data("red".utf8), of: .landscape)
        }
    }
}
