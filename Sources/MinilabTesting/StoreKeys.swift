import Foundation

/// The keys of somebody whom the tests' object stores know.
public struct StoreKeys: Sendable, Hashable {
    /// The name of the user or identity.
    public let name: String
    public let accessKey: String
    public let secretKey: String

    /// Keys, of somebody or of nobody.
    public init(name: String, accessKey: String, secretKey: String) {
        (self.name, self.accessKey, self.secretKey) = (name, accessKey, secretKey)
    }

    /// May do everything.
    public static let admin = StoreKeys(
        name: "minilab", accessKey: "minilabkey", secretKey: "minilabsecret0123456789")
    /// May read and list.
    public static let reader = StoreKeys(
        name: "reader", accessKey: "readerkey", secretKey: "readersecret0123456789")
    /// May do what a policy of a test says; nothing without one. Only ``CephServer`` knows it.
    public static let limited = StoreKeys(
        name: "limited", accessKey: "limitedkey", secretKey: "limitedsecret0123456789")

    /// The variables in which programs look for keys.
    public var environment: [String: String] {
        ["AWS_ACCESS_KEY_ID": accessKey, "AWS_SECRET_ACCESS_KEY": secretKey]
    }

    /// Sends one request that curl signs, not our own client, and returns the answer's body; throws unless it is a success.
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
