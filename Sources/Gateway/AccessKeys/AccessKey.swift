package import Edits

/// A client's key: its name, its terms and the times of its creation and revocation. It does not contain the secret.
@dynamicMemberLookup package struct AccessKey: Sendable, Equatable {
    /// The name, 12 characters. It is not a secret.
    package let id: String
    /// The terms. Their properties are also available on the key: `key.tenant`.
    package internal(set) var terms: KeyTerms
    /// The time of its creation, ms since 1970.
    package let createdAt: Int
    /// The time of its revocation, ms since 1970; nil if it is not revoked.
    package internal(set) var revokedAt: Int?

    /// A stage of a key's life.
    package enum State: String, Sendable, Codable {
        case active, expired, revoked
    }

    package init(id: String, terms: KeyTerms, createdAt: Int, revokedAt: Int? = nil) {
        self.id = id
        self.terms = terms
        self.createdAt = createdAt
        self.revokedAt = revokedAt
    }

    package subscript<Value>(dynamicMember term: KeyPath<KeyTerms, Value>) -> Value {
        terms[keyPath: term]
    }

    /// Returns the state at a time in ms since 1970.
    package func state(at now: Int) -> State {
        if revokedAt != nil { return .revoked }
        return terms.expiresAt.map { $0 <= now } ?? false ? .expired : .active
    }
}

extension AccessKey: Codable {
    private enum CodingKeys: String, CodingKey {
        case id, createdAt, revokedAt
    }

    /// The terms are encoded beside the other fields.
    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        try self.init(
            id: fields.decode(String.self, forKey: .id), terms: KeyTerms(from: decoder),
            createdAt: fields.decode(Int.self, forKey: .createdAt),
            revokedAt: fields.decodeIfPresent(Int.self, forKey: .revokedAt))
    }

    package func encode(to encoder: any Encoder) throws {
        try terms.encode(to: encoder)
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(id, forKey: .id)
        try fields.encode(createdAt, forKey: .createdAt)
        try fields.encodeIfPresent(revokedAt, forKey: .revokedAt)
    }
}

/// The permissions of a key: pure decisions. The reply for an object outside them is the same as for one that does not exist.
extension AccessKey {
    package func permits(_ scope: Scope) -> Bool { terms.scopes.contains(scope) }

    /// The key's objects: everything that reads or changes some for its holder asks this, or is made with it.
    package var reach: Reach {
        Reach(tenant: terms.tenant?.string, folder: terms.assetPrefix.string)
    }

    /// The folder that a batch records which the key opens; nil for an operator's key, whose batches are their tenants' as a whole.
    package var batchFolder: String? { reach.isEverything ? nil : reach.folder }

    package func covers(_ asset: AssetPath) -> Bool { reach.covers(asset: asset.string) }
}

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

/// The error of a key that is not accepted, or that could not be created, found or changed.
package typealias KeyError = CodedError<KeyErrorCode>

package enum KeyErrorCode: RecordErrorCode, CaseIterable {
    package static let isShown = true
    package static let damaged = damagedKey

    /// The text is not a key: mistyped, truncated or something else.
    case malformedKey
    /// No key has this id and secret.
    case unknownKey
    /// The key has expired.
    case expiredKey
    /// The key was revoked.
    case revokedKey
    /// A newer minilab created the key, with terms that this one does not know.
    case laterFormat
    /// Redis has been unavailable for so long that a key may have been revoked meanwhile.
    case keysUnavailable
    /// A key's terms are not allowed.
    case invalidTerms
    /// An id is too long behind the key's tenant.
    case idTooLong
    /// The queue has the maximum number of keys.
    case tooManyKeys
    /// Other clients changed the record of a key again and again.
    case contended
    /// The record of a key cannot be decoded.
    case damagedKey
    /// Redis was unreachable or refused a command.
    case redis
}

/// A permitted use of a key. No scope includes another one.
package enum Scope: String, Sendable, Codable, CaseIterable, Comparable {
    /// Submits and cancels the key's own jobs and batches, and manages its originals and webhooks.
    case enqueue
    /// Reads the key's own jobs, events and photos.
    case read
    /// Reads and controls the queue: workers, dead jobs, replays, pauses, limits.
    case operate
    /// Reads and changes keys, and repairs the queue.
    case admin

    package static func < (left: Scope, right: Scope) -> Bool {
        (allCases.firstIndex(of: left) ?? 0) < (allCases.firstIndex(of: right) ?? 0)
    }
}

/// The folder of a key's assets: empty for all, or a path that ends with `/`.
///
/// Assets are compared byte by byte, like in the file system: `acme/` contains `acme/a.jpg`, but neither `acmes/a.jpg` nor the
/// folder in another Unicode normalization.
package struct AssetPrefix: Sendable, Hashable, Codable, CustomStringConvertible {
    package let string: String

    package static let all = AssetPrefix()

    private init() { string = "" }

    /// Checks a prefix: the part before its last `/` must be an asset's path.
    ///
    /// - Throws: `invalidTerms`.
    package init(_ string: String) throws(KeyError) {
        self.string = string
        if string.isEmpty { return }
        guard string.utf8.last == UInt8(ascii: "/") else {
            throw Self.refusal(string, "it does not end in /")
        }
        do {
            _ = try AssetPath(String(decoding: string.utf8.dropLast(), as: UTF8.self))
        } catch {
            throw Self.refusal(string, error.message)
        }
    }

    package init(from decoder: any Decoder) throws {
        try self.init(decoder.singleValueContainer().decode(String.self))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(string)
    }

    package var description: String { string }

    private static func refusal(_ string: String, _ reason: String) -> KeyError {
        KeyError(
            .invalidTerms,
            "prefix \(String(string.prefix(200)).debugDescription.printable) is no folder of assets: \(reason). Give one as "
                + "in acme/ or acme/2026/, or an empty one for all assets.")
    }
}
