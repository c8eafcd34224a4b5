/// The keys in the file that AWS' tools share, `~/.aws/credentials`, in the section of a profile.
///
///     [minilab]
///     aws_access_key_id = …
///     aws_secret_access_key = …
///     aws_session_token = …
///
/// `AWS_SHARED_CREDENTIALS_FILE` names another file, and `AWS_PROFILE` the profile; the default
/// is `default`. The file is read each time, so that replaced keys take effect as soon as the old
/// ones are refused. Source: AWS SDKs and tools reference guide, "Shared config and credentials
/// files".
public struct SharedFileCredentials: CredentialSource {
    /// The most bytes of the file.
    static let bytesMax = 1 << 20

    /// The name in messages.
    public let name = "the shared credentials file"

    private let path: String?
    private let profile: String
    private let isNamed: Bool

    /// Creates a source for the file and the profile that `environment` names.
    ///
    /// - Parameter profile: A profile from Minilab's own settings; nil means the environment's.
    public init(_ environment: [String: String], profile: String? = nil) {
        path =
            environment.set("AWS_SHARED_CREDENTIALS_FILE")
            ?? environment.set("HOME").map { "\($0)/.aws/credentials" }
        let named = profile ?? environment.set("AWS_PROFILE")
        self.profile = named ?? "default"
        isNamed = named != nil
    }

    /// Returns the profile's keys; nil if no profile is named and there is no file, or no
    /// `default` in it.
    public func fetch() async throws(BlobError) -> Credentials? {
        guard let path else { return nil }
        let text = try await SmallFile.read(path, atMost: Self.bytesMax)
        guard let section = text.flatMap({ Self.section(profile, of: $0) }) else {
            guard isNamed else { return nil }
            throw BlobError(
                .noCredentials,
                "The profile \(profile) is not in \(path): add [\(profile)] with "
                    + "aws_access_key_id and aws_secret_access_key, or name another profile.")
        }
        guard let access = section.set("aws_access_key_id"),
            let secret = section.set("aws_secret_access_key")
        else {
            throw BlobError(
                .noCredentials,
                "The profile \(profile) in \(path) has not both aws_access_key_id and "
                    + "aws_secret_access_key; roles and processes in profiles are not supported.")
        }
        return Credentials(
            accessKey: access, secretKey: secret, sessionToken: section.set("aws_session_token"))
    }

    /// Returns the settings of a profile; nil if there is no such section.
    static func section(_ profile: String, of text: String) -> [String: String]? {
        var section: [String: String]?
        var isInside = false
        for line in text.split(whereSeparator: \.isNewline) {
            let line = line.trimmed
            if line.hasPrefix("#") || line.hasPrefix(";") { continue }
            if line.hasPrefix("["), let end = line.firstIndex(of: "]") {
                isInside = line[..<end].dropFirst().trimmed == profile
                if isInside { section = section ?? [:] }
            } else if isInside, let equals = line.firstIndex(of: "=") {
                let name = line[..<equals].trimmed.lowercased()
                section?[name] = String(line[equals...].dropFirst().trimmed)
            }
        }
        return section
    }
}

extension Substring {
    /// The text without spaces and tabs at its ends.
    fileprivate var trimmed: Substring {
        let start = drop { $0 == " " || $0 == "\t" }
        let end = start.lastIndex { $0 != " " && $0 != "\t" }
        return end.map { start[...$0] } ?? ""
    }
}
