import Edits
import JobQueue

/// The body of a call that carries a reason: `{"reason": "ordered twice"}`.
struct ReasonBody {
    let reason: String

    /// - Parameter usual: the reason if there is no body.
    /// - Throws: `badBody`.
    init(_ json: JSONValue?, usual: String) throws(Problem) {
        guard let json else {
            reason = usual
            return
        }
        guard case .object(let fields) = json, case .string(let reason)? = fields["reason"],
            fields.count == 1, !reason.isEmpty, reason.utf8.count <= QueueRule.reasonBytesMax
        else {
            throw Problem(
                .badBody,
                #"The body is no {"reason": …} with 1 to \#(QueueRule.reasonBytesMax) bytes of text."#
            )
        }
        self.reason = reason
    }
}
