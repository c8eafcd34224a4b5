import AccessKeys
import Edits
import JobQueue

extension Problem {
    /// The problem of a tenant whose jobs and batches take too many bytes of Redis.
    static func storedFull(_ stored: Int, _ most: Int) -> Problem {
        Problem(
            .storedFull,
            "The jobs and batches of this tenant take \(stored) bytes of the queue's memory, and \(most) are allowed. Send it "
                + "again when some have ended; jobs that failed count until they are replayed or dropped.",
            facts: ["stored": .number(Double(stored)), "max": .number(Double(most))],
            retryAfter: 10)
    }
}

extension Call {
    /// The maximum number of bytes of Redis that the caller's tenant may take; nil for no limit, as for an operator's key.
    var storedMax: Int? {
        get throws(Problem) {
            let key = try key
            return key.quotas.storedBytesMax
                ?? (key.tenant == nil
                    ? nil : parts.settings.storedBytesMax ?? parts.queue.memory.tenantMax)
        }
    }
}
