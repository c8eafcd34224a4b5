import FoundationEssentials

/// An endpoint as stored in Redis: with its secrets, which signing needs in clear, and the format of the record.
struct StoredEndpoint: Sendable, Equatable, Codable {
    var endpoint: WebhookEndpoint
    /// The secrets, the newest first; at most ``secretsMax``.
    private(set) var secrets: [Secret]
    private let format: Int

    /// The format that this minilab writes and reads.
    static let formatKnown = 1
    /// The maximum number of secrets that sign a message.
    static let secretsMax = 2
    /// The time for which a replaced secret continues to sign, in ms: a day.
    static let rotationOverlap = 86_400_000

    struct Secret: Sendable, Equatable, Codable {
        let text: String
        /// The time at which it expires, ms since 1970; nil while it is current.
        var endsAt: Int?
    }

    init(endpoint: WebhookEndpoint, secret: WebhookSecret) {
        self.endpoint = endpoint
        secrets = [Secret(text: secret.revealed)]
        format = Self.formatKnown
    }

    /// Returns the secrets that sign at a time in ms since 1970.
    ///
    /// - Throws: `invalidSecret`.
    func signing(at now: Int) throws(WebhookError) -> [WebhookSecret] {
        var signing: [WebhookSecret] = []
        for secret in secrets where secret.endsAt.map({ $0 > now }) ?? true {
            signing.append(try WebhookSecret(secret.text))
        }
        return signing
    }

    /// Replaces the newest secret, which continues to sign for a day; older ones expire.
    mutating func rotate(to secret: WebhookSecret, at now: Int) {
        var last = secrets[0]
        last.endsAt = now + Self.rotationOverlap
        secrets = [Secret(text: secret.revealed), last]
    }

    /// - Throws: `damagedEndpoint`, `laterFormat`.
    static func decode(_ json: [UInt8], of id: String) throws(WebhookError) -> StoredEndpoint {
        struct Format: Decodable { let format: Int }
        let data = Data(json)
        do {
            let format = try JSONDecoder().decode(Format.self, from: data).format
            guard format == formatKnown else {
                throw WebhookError(
                    .laterFormat,
                    "endpoint \(id) is of format \(format), but this minilab reads up to \(formatKnown): a newer "
                        + "one made it. "
                        + "Upgrade this one.")
            }
            let stored = try JSONDecoder().decode(StoredEndpoint.self, from: data)
            guard (1...secretsMax).contains(stored.secrets.count), stored.endpoint.id == id else {
                throw WebhookError(
                    .damagedEndpoint, "its id is \(stored.endpoint.id), or it has no secret")
            }
            return stored
        } catch let error as WebhookError where error.code == .laterFormat {
            throw error
        } catch {
            throw WebhookError(
                .damagedEndpoint,
                "the record of endpoint \(id) cannot be read (\(error)). Delete it, and make another one."
            )
        }
    }

    /// - Throws: `damagedEndpoint`, which does not occur for a checked endpoint.
    func encoded() throws(WebhookError) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return Array(try encoder.encode(self))
        } catch {
            throw WebhookError(
                .damagedEndpoint, "endpoint \(endpoint.id) cannot be written as JSON: \(error)")
        }
    }
}
