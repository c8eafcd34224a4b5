/// Tries several sources in order. The first one that is configured decides.
public struct CredentialChain: CredentialSource {
    private let sources: [any CredentialSource]

    /// The names of the sources, for messages.
    public var name: String { sources.map(\.name).joined(separator: ", ") }

    /// Creates a chain of these sources, in this order.
    public init(_ sources: [any CredentialSource]) {
        self.sources = sources
    }

    /// Returns the standard chain: Minilab's settings, the environment, the cluster's token, the
    /// shared file, the container's service and the machine's service.
    ///
    /// - Parameters:
    ///   - settings: Keys from Minilab's own settings, if there are any.
    ///   - profile: The profile of the shared file; nil means the environment's.
    public static func standard(
        settings: Credentials? = nil, profile: String? = nil, environment: [String: String]
    ) -> CredentialChain {
        var sources: [any CredentialSource] = []
        if let settings { sources.append(FixedCredentials(settings)) }
        sources += [
            EnvironmentCredentials(environment), WebIdentityCredentials(environment),
            SharedFileCredentials(environment, profile: profile),
            ContainerCredentials(environment), InstanceCredentials(environment),
        ]
        return CredentialChain(sources)
    }

    /// Returns the keys of the first configured source.
    public func fetch() async throws(BlobError) -> Credentials? {
        for source in sources {
            if let credentials = try await source.fetch() { return credentials }
        }
        return nil
    }
}
