import Adjustments
import HTTPTypes

extension Problem {
    /// A fault of a body that was sent, with the place in it.
    ///
    /// - Parameter roots: words at the beginning of an error's path that mean the body itself.
    init(_ failure: Failure, in text: String, roots: [String]) {
        self.init(failure)
        // A body that is no JSON has no places.
        guard failure.code != .malformedJSON,
            let document = try? JSONValue(parsing: text, as: "the body")
        else { return }
        pointer = JSONPointer.fragment(beginning: failure.message, in: document, roots: roots)
    }
}
