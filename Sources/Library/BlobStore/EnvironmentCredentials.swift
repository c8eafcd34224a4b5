/// The keys in environment variables: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and, for
/// temporary keys, `AWS_SESSION_TOKEN`.
///
/// Source of the names: AWS SDKs and tools reference guide, "AWS access keys".
public struct EnvironmentCredentials: CredentialSource {
    /// The name in messages.
    public let name = "the environment"

    private let environment: [String: String]

    /// Creates a source for the keys in `environment`.
    public init(_ environment: [String: String]) {
        self.environment = environment
    }

    /// Returns the keys; nil if neither variable is set. One without the other is an error.
    public func fetch() async throws(BlobError) -> Credentials? {
        switch (environment.set("AWS_ACCESS_KEY_ID"), environment.set("AWS_SECRET_ACCESS_KEY")) {
        case (nil, nil): return nil
        case (let access?, let secret?):
            return Credentials(
                accessKey: access, secretKey: secret,
                sessionToken: environment.set("AWS_SESSION_TOKEN"))
        case (let access, _):
            let (there, missing) =
                access == nil
                ? ("AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID")
                : ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
            throw BlobError(
                .noCredentials, "\(there) is set and \(missing) is not: set both or neither.")
        }
    }
}

extension [String: String] {
    /// Returns a variable's value; nil if it is empty, because an empty value is a common way to
    /// unset a variable.
    func set(_ name: String) -> String? {
        self[name].flatMap { $0.isEmpty ? nil : $0 }
    }
}
