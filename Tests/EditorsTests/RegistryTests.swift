import Edits
import Editors
import Filters
import FoundationEssentials
import Testing

@Suite("Editor registry") struct RegistryTests {
    private let registry = EditorRegistry([MinilabRecipe()])
    private let photo = EditedPhoto(
        storedSize: PixelSize(width: 400, height: 300), orientation: .upright)

    private func open(
        _ identifier: String, _ version: String, _ data: Data
    ) -> EditorAnswer {
        registry.open(
            AdjustmentData(formatIdentifier: identifier, formatVersion: version, data: data),
            of: photo)
    }

    @Test func `it says what settings add to it, which workers compare`() throws {
        #expect(try EditorRegistry.standard().variant.isEmpty)
        let tinted = try EditorRegistry.standard(
            lookAlikes: true, tint: (identifier: "com.example.tint", version: "1.0"))
        #expect(tinted.variant == "lookalikes, tint com.example.tint/1.0")
    }

    @Test func `an identifier that no codec has cannot be handled`() {
        guard case .cannotHandle(let reason) = open("com.example.other", "1.0", Data([1])) else {
            Issue.record("expected .cannotHandle")
            return
        }
        #expect(reason.contains("com.example.other 1.0"))
    }

    @Test func `a known identifier of an unknown version cannot be handled`() {
        guard case .cannotHandle(let reason) = open("org.minilab.recipe", "7.0", Data([1])) else {
            Issue.record("expected .cannotHandle")
            return
        }
        #expect(reason.contains("1.0") && reason.contains("7.0"))
        #expect(reason.contains("upgrade"))
    }

    @Test func `what a recipe is written as is read as the same recipe`() throws {
        let recipe = try Recipe(json: #"{"filters":[{"name":"CISepiaTone","intensity":0.8}]}"#)
        let data = try MinilabRecipe().write(recipe, for: photo)
        #expect(open("org.minilab.recipe", "1.0", data) == .canHandle(recipe))
    }

    @Test func `a filter that only a newer Minilab knows cannot be handled`() {
        let data = Data(#"{"filters":[{"name":"CIFromTheFuture"}]}"#.utf8)
        guard case .cannotHandle(let reason) = open("org.minilab.recipe", "1.0", data) else {
            Issue.record("expected .cannotHandle")
            return
        }
        #expect(reason.contains("CIFromTheFuture"))
    }

    @Test(arguments: [
        Data(), Data([0xff, 0xfe]), Data("{".utf8), Data(count: (2 << 20) + 1),
        Data(#"{"filters":[],"output":{"metadata":{"title":"{name}"}}}"#.utf8),
    ])
    func `bytes that are no recipe are undecodable`(data: Data) {
        guard case .undecodable(let failure) = open("org.minilab.recipe", "1.0", data) else {
            Issue.record("expected .undecodable")
            return
        }
        #expect(failure.code == .adjustmentDataUndecodable)
    }
}
