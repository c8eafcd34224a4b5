import Edits
import HTTPTypes

extension Problem {
    /// Creates a problem from a fault of a received body, with the place in it.
    ///
    /// - Parameter roots: first words of an error's path that mean the body itself.
    init(_ failure: Failure, in text: String, roots: [String]) {
        self.init(failure)
        // A body that is not JSON has no places.
        guard failure.code != .malformedJSON,
            let document = try? JSONValue(parsing: text, as: "the body")
        else { return }
        pointer = JSONPointer.fragment(beginning: failure.message, in: document, roots: roots)
    }
}
