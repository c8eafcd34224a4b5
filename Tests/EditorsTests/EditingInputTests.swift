import Editors
import Testing

/// PhotoKit's decision table, a test for each cell.
@Suite("Which layer an edit starts from") struct EditingInputTests {
    @Test func `an asset that nobody edited gives its original`() {
        #expect(EditingInput.choose(.unedited) == .original)
    }

    @Test func `a readable edit of the original gives the original again`() {
        #expect(EditingInput.choose(.edited(hasBase: false, canHandle: true)) == .original)
    }

    @Test func `a readable edit of a base gives that base, not the original`() {
        #expect(EditingInput.choose(.edited(hasBase: true, canHandle: true)) == .base)
    }

    @Test func `an unreadable edit of the original gives its render`() {
        #expect(EditingInput.choose(.edited(hasBase: false, canHandle: false)) == .current)
    }

    @Test func `an unreadable edit of a base gives its render too`() {
        #expect(EditingInput.choose(.edited(hasBase: true, canHandle: false)) == .current)
    }
}
