/// Where keys come from: a setting, a file, a service of the machine.
public protocol CredentialSource: Sendable {
    /// The name that messages use, such as "the environment".
    var name: String { get }

    /// Fetches keys.
    ///
    /// Returns nil where this source is not set up at all, so that the next one is asked. Throws
    /// ``BlobError/Code/noCredentials`` where it is set up and gives none.
    func fetch() async throws(BlobError) -> Credentials?
}

/// Keys from our own settings.
public struct FixedCredentials: CredentialSource {
    /// The name that messages use.
    public let name = "the settings"

    private let credentials: Credentials

    /// Always these keys.
    public init(_ credentials: Credentials) {
        self.credentials = credentials
    }

    /// The keys.
    public func fetch() async throws(BlobError) -> Credentials? { credentials }
}
