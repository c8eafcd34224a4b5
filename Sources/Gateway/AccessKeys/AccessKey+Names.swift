package import Edits

/// The two forms of an id: as the key's holder uses it, and as the queue stores it. For a tenant's key the stored form is
/// `<tenant>.<id>`, so that tenants cannot block or probe each other's ids; for the operator's key both are the same.
extension AccessKey {
    /// Returns whether a stored id of a job, a batch or a batch's member has the form of the key's own ids.
    package func covers(storedID id: String) -> Bool { reach.covers(name: id) }

    /// Returns the stored id of a job.
    ///
    /// - Throws: `idTooLong`.
    package func storedJobID(for id: JobID) throws(KeyError) -> JobID {
        try stored(id, atMost: ContractLimits.jobIDLengthMax)
    }

    /// Returns the stored name of a batch.
    ///
    /// - Throws: `idTooLong`.
    package func storedBatchName(for name: JobID) throws(KeyError) -> JobID {
        try stored(name, atMost: ContractLimits.batchIDLengthMax)
    }

    /// Returns the id in the holder's form; nil if the stored id does not have the form of the key's own ids.
    package func shownID(of stored: String) -> String? { reach.ownPart(of: stored) }

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
            return try JobID(ofJob: text)
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
