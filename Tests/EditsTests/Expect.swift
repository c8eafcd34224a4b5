import Edits
import Testing

/// Expects a failure of that code whose sentence names each of `parts`.
func expect(
    _ code: FailureCode, naming parts: String..., sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () throws -> some Any
) {
    let failure = #expect(throws: Failure.self, sourceLocation: sourceLocation) { try body() }
    guard let failure else { return }
    #expect(failure.code == code, "\(failure)", sourceLocation: sourceLocation)
    for part in parts {
        #expect(failure.message.contains(part), sourceLocation: sourceLocation)
    }
}
