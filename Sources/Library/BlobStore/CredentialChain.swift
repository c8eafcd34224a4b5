public import Edits
import Files
import NIOHTTP1
import NIOPosix
import SystemPackage

/// Tries several sources in order. The first one that is configured decides.
public struct CredentialChain: CredentialSource {
    private let sources: [any CredentialSource]

    /// The names of the sources, for messages.
    public var name: String { sources.map(\.name).joined(separator: ", ") }

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

    public func fetch() async throws(BlobError) -> Credentials? {
        for source in sources {
            if let credentials = try await source.fetch() { return credentials }
        }
        return nil
    }
}

/// A source of keys: a setting, a file, or a service of the machine.
public protocol CredentialSource: Sendable {
    var name: String { get }

    /// Fetches keys.
    ///
    /// Returns nil if this source is not configured, so that the next one is tried. Throws
    /// `noCredentials` if it is configured and returns none.
    func fetch() async throws(BlobError) -> Credentials?
}

/// The keys from Minilab's own settings.
public struct FixedCredentials: CredentialSource {
    public let name = "the settings"

    private let credentials: Credentials

    public init(_ credentials: Credentials) {
        self.credentials = credentials
    }

    public func fetch() async throws(BlobError) -> Credentials? { credentials }
}

/// The keys in environment variables: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and, for
/// temporary keys, `AWS_SESSION_TOKEN`.
///
/// Source of the names: AWS SDKs and tools reference guide, "AWS access keys".
struct EnvironmentCredentials: CredentialSource {
    let name = "the environment"

    private let environment: [String: String]

    init(_ environment: [String: String]) {
        self.environment = environment
    }

    /// Returns the keys; nil if neither variable is set. One without the other is an error.
    func fetch() async throws(BlobError) -> Credentials? {
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
struct SharedFileCredentials: CredentialSource {
    static let bytesMax = 1 << 20

    let name = "the shared credentials file"

    private let path: String?
    private let profile: String
    private let isNamed: Bool

    /// Creates a source for the file and the profile that `environment` names.
    ///
    /// - Parameter profile: A profile from Minilab's own settings; nil means the environment's.
    init(_ environment: [String: String], profile: String? = nil) {
        path =
            environment.set("AWS_SHARED_CREDENTIALS_FILE")
            ?? environment.set("HOME").map { "\($0)/.aws/credentials" }
        let named = profile ?? environment.set("AWS_PROFILE")
        self.profile = named ?? "default"
        isNamed = named != nil
    }

    /// Returns the profile's keys; nil if no profile is named and there is no file, or no
    /// `default` in it.
    func fetch() async throws(BlobError) -> Credentials? {
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

/// The keys of a role, for a token that the cluster writes to a file (Kubernetes service
/// accounts).
///
/// They are configured by `AWS_WEB_IDENTITY_TOKEN_FILE` and `AWS_ROLE_ARN`.
/// `AWS_ROLE_SESSION_NAME`, `AWS_REGION` and `AWS_ENDPOINT_URL_STS` are supported. The token's
/// file is read each time, because the cluster replaces it. Source: AWS STS API reference,
/// AssumeRoleWithWebIdentity.
struct WebIdentityCredentials: CredentialSource {
    /// The most bytes of the token's file. Source: `WebIdentityToken` has at most 20,000 characters.
    static let tokenBytesMax = 20_001

    let name = "the web identity"

    private let environment: [String: String]
    private let service: CredentialService

    init(_ environment: [String: String], _ runtime: ClientRuntime = .real) {
        self.environment = environment
        service = CredentialService(
            name: "The security token service", runtime: runtime)
    }

    /// Returns the role's keys; nil if no token's file is named.
    func fetch() async throws(BlobError) -> Credentials? {
        guard let file = environment.set("AWS_WEB_IDENTITY_TOKEN_FILE") else { return nil }
        guard let role = environment.set("AWS_ROLE_ARN") else {
            throw BlobError(
                .noCredentials,
                "AWS_WEB_IDENTITY_TOKEN_FILE is set and AWS_ROLE_ARN is not: set both or neither.")
        }
        let text = try await SmallFile.read(file, atMost: Self.tokenBytesMax)
        let token = text?.filter { !$0.isWhitespace } ?? ""
        guard !token.isEmpty else {
            throw service.error("the token's file \(file) is empty or does not exist.")
        }
        let form = [
            ("Action", "AssumeRoleWithWebIdentity"), ("Version", "2011-06-15"),
            ("RoleArn", role),
            ("RoleSessionName", environment.set("AWS_ROLE_SESSION_NAME") ?? "minilab"),
            ("WebIdentityToken", token),
        ].map { "\($0)=\($1.percentEncoded())" }.joined(separator: "&")
        let endpoint = try endpoint()
        let answer = try await service.answer(
            .POST, endpoint + "/", at: endpoint,
            headers: [("content-type", "application/x-www-form-urlencoded")], body: form)
        return try credentials(in: answer, role: role)
    }

    private func credentials(
        in answer: CredentialService.Answer, role: String
    ) throws(BlobError) -> Credentials {
        guard answer.status == 200 else {
            let refusal = S3Refusal(status: answer.status, headers: [:], body: answer.bytes)
            throw service.error(
                "for the role \(role) it answered \(refusal.sentence). Check the role's trust policy."
            )
        }
        let keys: XMLNode?
        do throws(XMLNode.Malformed) {
            keys = try XMLNode(document: answer.bytes)["AssumeRoleWithWebIdentityResult"]?[
                "Credentials"]
        } catch {
            throw service.error("its answer is XML with \(error.reason).")
        }
        guard let keys, let access = keys.text(of: "AccessKeyId"),
            let secret = keys.text(of: "SecretAccessKey"),
            let token = keys.text(of: "SessionToken"),
            let expires = keys.text(of: "Expiration").flatMap({ BlobTime(iso: $0) })
        else { throw service.error("its answer has no keys with an end.") }
        return Credentials(
            accessKey: access, secretKey: secret, sessionToken: token, expires: expires)
    }

    private func endpoint() throws(BlobError) -> String {
        if let given = environment.set("AWS_ENDPOINT_URL_STS") {
            return try service.address(given, from: "AWS_ENDPOINT_URL_STS").description
        }
        let region = environment.set("AWS_REGION") ?? environment.set("AWS_DEFAULT_REGION")
        guard let region else { return "https://sts.amazonaws.com" }
        let domain = region.hasPrefix("cn-") ? "amazonaws.com.cn" : "amazonaws.com"
        return try service.address(
            "https://sts.\(region).\(domain)", from: "AWS_REGION"
        ).description
    }
}

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

/// Caches keys until shortly before they expire. Concurrent callers share one renewal.
actor CredentialCache {
    /// How long before their expiry keys are renewed.
    static let renewalSeconds = 5 * 60

    /// The wait after a failed renewal, while the present keys are still valid.
    static let renewalPauseSeconds = 30

    private let source: any CredentialSource
    private var cached: Credentials?
    private var notBefore = BlobTime(seconds: .min)
    private var fetching: Task<Result<Credentials, BlobError>, Never>?

    init(_ source: any CredentialSource) {
        self.source = source
    }

    /// Returns keys that are valid at `now`.
    ///
    /// Keys that expire soon are returned while new ones are fetched; expired keys are not.
    func current(at now: BlobTime) async throws(BlobError) -> Credentials {
        guard let cached else { return try await fetched(at: now) }
        guard let expires = cached.expires else { return cached }
        if now.seconds < expires.seconds - Self.renewalSeconds { return cached }
        guard now < expires else { return try await fetched(at: now) }
        if now >= notBefore { fetch(at: now) }
        return cached
    }

    /// Removes keys that a store has refused. The next caller waits for new ones.
    func refused(_ credentials: Credentials) {
        // Another request may have renewed them in the meantime.
        if cached == credentials { cached = nil }
    }

    private func fetched(at now: BlobTime) async throws(BlobError) -> Credentials {
        try await fetch(at: now).value.get()
    }

    @discardableResult
    private func fetch(at now: BlobTime) -> Task<Result<Credentials, BlobError>, Never> {
        if let fetching { return fetching }
        let task = Task { () -> Result<Credentials, BlobError> in
            let result = await Self.ask(source)
            keep(result, at: now)
            return result
        }
        fetching = task
        return task
    }

    private func keep(_ result: Result<Credentials, BlobError>, at now: BlobTime) {
        fetching = nil
        switch result {
        case .success(let credentials): cached = credentials
        case .failure:
            // Callers that need new keys get the error. Callers with valid keys continue to use
            // them.
            notBefore = BlobTime(seconds: now.seconds + Self.renewalPauseSeconds)
        }
    }

    private static func ask(
        _ source: any CredentialSource
    ) async -> Result<Credentials, BlobError> {
        do throws(BlobError) {
            if let credentials = try await source.fetch() {
                try credentials.check(from: source.name)
                return .success(credentials)
            }
            return .failure(
                BlobError(
                    .noCredentials,
                    "No credentials for the store: \(source.name) has none. Set "
                        + "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, name a profile, or give "
                        + "the machine a role."))
        } catch {
            return .failure(error)
        }
    }
}

extension SmallFile {
    /// Returns the text of a file that a setting names; nil if there is no such file. It is read at
    /// once, outside the cooperative thread pool.
    ///
    /// Throws `noCredentials` if it cannot be read, is longer than `limit` or is not UTF-8.
    static func read(_ path: String, atMost limit: Int) async throws(BlobError) -> String? {
        let bytes: [UInt8]
        do {
            bytes = try await NIOThreadPool.singleton.runIfActive {
                try Self.bytes(path, atMost: limit)
            }
        } catch Errno.noSuchFileOrDirectory, Errno.notDirectory {
            return nil
        } catch {
            throw BlobError(
                .noCredentials, "The file \(path) cannot be read (\(error)): check permissions.")
        }
        guard bytes.count <= limit, let text = String(validating: bytes, as: UTF8.self) else {
            throw BlobError(
                .noCredentials, "The file \(path) is no UTF-8 text of at most \(limit) bytes.")
        }
        return text
    }
}
