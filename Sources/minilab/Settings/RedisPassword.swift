import Adjustments
import FoundationEssentials

/// The password of Redis, read from a file: a command line is shown to everybody by `ps`.
enum RedisPassword {
    /// The name of the credential in systemd's `LoadCredential=`.
    static let credential = "redis-password"
    /// Longest password, in bytes; a longer file is another file.
    static let bytesMax = 4096

    /// Where the password is: in the file that was named, else in a credential of the unit; nil when in neither.
    static func file(
        named: String?, environment: [String: String], exists: (String) -> Bool
    ) -> String? {
        if let named { return named }
        guard let folder = environment["CREDENTIALS_DIRECTORY"] else { return nil }
        let file = "\(folder)/\(credential)"
        return exists(file) ? file : nil
    }

    /// Reads one line.
    ///
    /// - Throws: a sentence that names the file and never what is in it.
    static func read(_ file: String) throws(PasswordFileError) -> String {
        let bytes: Data
        do {
            bytes = try Data(contentsOf: URL(filePath: file))
        } catch {
            throw PasswordFileError("the password file \(file) cannot be read: \(error)")
        }
        guard bytes.count <= bytesMax, let text = String(validating: bytes, as: UTF8.self) else {
            throw PasswordFileError(
                "the password file \(file) is not one line of UTF-8 of at most \(bytesMax) bytes")
        }
        let password = text.hasSuffix("\n") ? String(text.dropLast()) : text
        guard !password.isEmpty, !password.hasControls else {
            throw PasswordFileError(
                "the password file \(file) is empty or has more than one line; write the password into it and "
                    + "nothing else")
        }
        return password
    }
}

/// Why a password file cannot be used.
struct PasswordFileError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
