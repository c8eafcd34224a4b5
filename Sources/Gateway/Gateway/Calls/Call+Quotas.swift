import AccessKeys
import JobQueue

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

    /// Counts bytes that cost work and were of no use to the day of the key.
    ///
    /// - Throws: `uploadQuota`.
    func pay(_ bytes: Int) async throws {
        let key = try key
        guard
            case .refused(let left, let seconds) = try await parts.limits.uploads.charge(
                bytes, to: key)
        else { return }
        throw Problem(
            .uploadQuota,
            "Key \(key.id) may bring \(left) more bytes today, and has sent more than that. Send the rest after midnight UTC, or "
                + "ask the operator for a larger quota.", retryAfter: seconds)
    }
}
