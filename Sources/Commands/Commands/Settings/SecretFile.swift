import Edits
import FoundationEssentials

/// A secret that is read from a file, because `ps` shows command lines to every user.
package struct SecretFile: Sendable {
    /// The name of the secret in messages.
    let what: String
    /// The name of the credential in systemd's `LoadCredential=`.
    let credential: String

    static let redisPassword = SecretFile(what: "password", credential: "redis-password")
    /// The client secret of the gateway at an identity provider.
    package static let oidcClientSecret = SecretFile(
        what: "client secret", credential: "oidc-client-secret")

    /// The longest secret in bytes; a longer file is probably the wrong file.
    static let bytesMax = 4096

    /// Returns the path of the secret: the named file, else a credential of the systemd unit; nil if there is neither.
    func file(
        named: String?, environment: [String: String], exists: (String) -> Bool
    ) -> String? {
        if let named { return named }
        guard let folder = environment["CREDENTIALS_DIRECTORY"] else { return nil }
        let file = "\(folder)/\(credential)"
        return exists(file) ? file : nil
    }

    /// Reads the first line.
    ///
    /// - Throws: an error that names the file and never its content.
    func read(_ file: String) throws(SecretFileError) -> String {
        let bytes: Data
        do {
            bytes = try Data(contentsOf: URL(filePath: file))
        } catch {
            throw SecretFileError("the \(what) file \(file) cannot be read: \(error)")
        }
        guard bytes.count <= Self.bytesMax, let text = String(validating: bytes, as: UTF8.self)
        else {
            throw SecretFileError(
                "the \(what) file \(file) is not one line of UTF-8 of at most \(Self.bytesMax) bytes"
            )
        }
        let secret = text.hasSuffix("\n") ? String(text.dropLast()) : text
        guard !secret.isEmpty, !secret.hasControls else {
            throw SecretFileError(
                "the \(what) file \(file) is empty or has more than one line; write the \(what) into it and "
                    + "nothing else")
        }
        return secret
    }
}

extension SettingsReader {
    /// Reads a secret from the file that a setting names, else from the systemd unit's credential; nil if there is
    /// neither.
    package mutating func secret(_ secret: SecretFile, _ setting: Setting<String>) -> String? {
        guard
            let file = secret.file(
                named: optional(setting), environment: environment,
                exists: FileManager.default.fileExists(atPath:))
        else { return nil }
        do throws(SecretFileError) {
            return try secret.read(file)
        } catch {
            refuse("\(setting.key): \(error)")
            return nil
        }
    }
}

/// The reason for which the file of a secret cannot be used.
struct SecretFileError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
