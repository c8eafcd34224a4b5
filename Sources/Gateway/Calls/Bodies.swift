import Adjustments
import JobQueue

/// The body of a cancellation: why.
struct CancelBody {
    let reason: String

    /// - Throws: `badBody`.
    init(_ json: JSONValue?) throws(Problem) {
        guard let json else {
            reason = "cancelled by its producer"
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
