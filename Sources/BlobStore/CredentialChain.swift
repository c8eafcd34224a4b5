/// Asks several sources in turn; the first one that is set up decides.
public struct CredentialChain: CredentialSource {
    private let sources: [any CredentialSource]

    /// The name that messages use.
    public var name: String { sources.map(\.name).joined(separator: ", ") }

    /// These sources, in this order.
    public init(_ sources: [any CredentialSource]) {
        self.sources = sources
    }

    /// Our settings, the environment, the cluster's token, the shared file, the container's service and
    /// the machine's.
    ///
    /// - Parameters:
    ///   - settings: Keys from our own settings, if there are any.
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

    /// The first keys that there are.
    public func fetch() async throws(BlobError) -> Credentials? {
        for source in sources {
            if let credentials = try await source.fetch() { return credentials }
        }
        return nil
    }
}
