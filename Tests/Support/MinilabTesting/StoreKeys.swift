import Foundation

/// The keys of a user of the tests' object stores.
public struct StoreKeys: Sendable, Hashable {
    /// The name of the user or identity.
    public let name: String
    public let accessKey: String
    public let secretKey: String

    /// Creates keys, of a known user or of none.
    public init(name: String, accessKey: String, secretKey: String) {
        (self.name, self.accessKey, self.secretKey) = (name, accessKey, secretKey)
    }

    /// The keys of a user with all rights.
    public static let admin = StoreKeys(
        name: "minilab", accessKey: "minilabkey", secretKey: "minilabsecret0123456789")
    /// The keys of a user who may read and list.
    public static let reader = StoreKeys(
        name: "reader", accessKey: "readerkey", secretKey: "readersecret0123456789")
    /// The keys of a user with only the rights of a test's policy. Only ``CephServer`` has this user.
    public static let limited = StoreKeys(
        name: "limited", accessKey: "limitedkey", secretKey: "limitedsecret0123456789")

    /// The environment variables in which programs find the keys.
    public var environment: [String: String] {
        ["AWS_ACCESS_KEY_ID": accessKey, "AWS_SECRET_ACCESS_KEY": secretKey]
    }

    /// Sends a request that curl signs, independently of our own client, and returns the response's body; throws if it
    /// fails.
    @discardableResult
    public func curl(_ method: String, _ url: String, _ body: String = "") throws -> String {
        let digest = String(
            decoding: try Tool.run("/usr/bin/sha256sum", [], input: Data(body.utf8)).prefix(64),
            as: UTF8.self)
        let answer = try Tool.run(
            "/usr/bin/env",
            [
                "curl", "--silent", "--show-error", "--fail", "--aws-sigv4",
                "aws:amz:us-east-1:s3", "--user", "\(accessKey):\(secretKey)", "--header",
                "x-amz-content-sha256: \(digest)", "--request", method, "--data-binary",
                "@-", url,
            ], input: Data(body.utf8))
        return String(decoding: answer, as: UTF8.self)
    }
}
