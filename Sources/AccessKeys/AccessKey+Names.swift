package import Adjustments

/// Ids as a key's holder knows them, and as the queue has them: `<tenant>.<id>` for a tenant's key, so that tenants
/// cannot block or probe each other's ids; unchanged for the operator's.
extension AccessKey {
    /// Whether a stored id of a job, a batch or a batch's member has the form of its own.
    package func covers(storedID id: String) -> Bool { shownID(of: id) != nil }

    /// The stored id of a job.
    ///
    /// - Throws: `idTooLong`.
    package func storedJobID(for id: JobID) throws(KeyError) -> JobID {
        try stored(id, atMost: ContractLimits.jobIDLengthMax)
    }

    /// The stored name of a batch.
    ///
    /// - Throws: `idTooLong`.
    package func storedBatchName(for name: JobID) throws(KeyError) -> JobID {
        try stored(name, atMost: ContractLimits.batchIDLengthMax)
    }

    /// The id as the holder knows it; nil when it is not of the key's own form.
    package func shownID(of stored: String) -> String? {
        guard let tenant = terms.tenant else { return stored }
        let prefix = "\(tenant)."
        guard stored.utf8.starts(with: prefix.utf8), stored.utf8.count > prefix.utf8.count else {
            return nil
        }
        return String(decoding: stored.utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
    }

    private func stored(_ id: JobID, atMost most: Int) throws(KeyError) -> JobID {
        guard let tenant = terms.tenant else {
            guard id.string.utf8.count <= most else { throw Self.tooLong(id, most) }
            return id
        }
        let text = "\(tenant).\(id)"
        guard text.utf8.count <= most else {
            throw Self.tooLong(id, most - tenant.string.utf8.count - 1)
        }
        do {
            return try JobID(text)
        } catch {
            throw KeyError(.idTooLong, error.message)
        }
    }

    private static func tooLong(_ id: JobID, _ most: Int) -> KeyError {
        KeyError(
            .idTooLong,
            "id \(id) has \(id.string.utf8.count) characters; with this key it has at most \(max(0, most))."
        )
    }
}
