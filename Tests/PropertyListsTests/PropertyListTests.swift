import PropertyLists
import Testing

@Suite("Property list") struct PropertyListTests {
    @Test func `a reference is not a number`() { #expect(PropertyList.uid(1) != .integer(1)) }
}
