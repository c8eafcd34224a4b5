/// A source of keys: a setting, a file, or a service of the machine.
public protocol CredentialSource: Sendable {
    /// The name in messages, such as "the environment".
    var name: String { get }

    /// Fetches keys.
    ///
    /// Returns nil if this source is not configured, so that the next one is tried. Throws
    /// ``BlobError/Code/noCredentials`` if it is configured and returns none.
    func fetch() async throws(BlobError) -> Credentials?
}

/// The keys from Minilab's own settings.
public struct FixedCredentials: CredentialSource {
    /// The name in messages.
    public let name = "the settings"

    private let credentials: Credentials

    /// Creates a source that always returns these keys.
    public init(_ credentials: Credentials) {
        self.credentials = credentials
    }

    /// Returns the keys.
    public func fetch() async throws(BlobError) -> Credentials? { credentials }
}
