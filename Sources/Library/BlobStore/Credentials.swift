/// The keys with which requests are signed.
public struct Credentials: Sendable, Hashable {
    /// The public half, which stores name in their answers.
    public let accessKey: String

    /// The secret half. It must not appear in a message, a log or a mirror.
    public let secretKey: String

    /// The token of temporary keys; nil for permanent ones.
    public let sessionToken: String?

    /// The time at which the keys expire; nil means never.
    public let expires: BlobTime?

    /// Creates keys.
    public init(
        accessKey: String, secretKey: String, sessionToken: String? = nil,
        expires: BlobTime? = nil
    ) {
        self.accessKey = accessKey
        self.secretKey = secretKey
        self.sessionToken = sessionToken
        self.expires = expires
    }
}

extension Credentials: CustomStringConvertible, CustomReflectable {
    /// The access key, with `***` in place of secrets.
    public var description: String {
        "\(accessKey):***" + (sessionToken == nil ? "" : " with a session token")
    }

    /// A mirror with only the description, because `dump` and test failures print mirrors.
    public var customMirror: Mirror {
        Mirror(self, children: ["credentials": description])
    }
}

extension Credentials {
    /// The most characters of a key or a token. The tokens of AWS have about 1,000.
    static let charactersMax = 16_384

    /// Rejects values that cannot be in a header, without showing them.
    func check(from source: String) throws(BlobError) {
        let parts = [
            ("access key", accessKey), ("secret key", secretKey),
            ("session token", sessionToken ?? "none"),
        ]
        for (name, value) in parts {
            guard (1...Self.charactersMax).contains(value.utf8.count),
                value.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
            else {
                throw BlobError(
                    .noCredentials,
                    "The \(name) from \(source) has \(value.utf8.count) bytes and is not one word "
                        + "of plain characters: check it for spaces, quotes and line ends.")
            }
        }
    }
}
