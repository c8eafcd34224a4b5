import Foundation

/// A user of `ops/redis-users.conf`, with the password that it has in that file.
public enum RedisUser: String, CaseIterable, Sendable {
    case producer, reader, worker, gateway, `operator`, admin

    public var password: String { "change-me-" + rawValue }

    /// The login as URLs have it, `user:password@`.
    public var login: String { "\(rawValue):\(password)@" }
}

/// A server that differs from the one that people are told to start: no users, no append-only file, Redis' own settings.
///
/// `ops/checks/RIGS.md` has the one list of such servers, with the reason for each.
public enum RedisException: String, CaseIterable, Sendable {
    case sentinel = "a sentinel"
    case renamedCommand = "a renamed command"
    case onePassword = "one password"
}

/// The Redis that `ops/INSTALL.md` tells people to start: the settings of `ops/redis.conf`, the users of
/// `ops/redis-users.conf`.
public enum DocumentedRedis {
    private static func lines(_ name: String) throws -> [Substring] {
        let url = Repository.root.appending(path: "ops/" + name)
        return try String(contentsOf: url, encoding: .utf8).split(separator: "\n")
            .filter { !$0.hasPrefix("#") }
    }

    /// The settings, as arguments: a sentinel would rewrite the file with which a server was started.
    static func settings() throws -> [String] {
        try lines("redis.conf").flatMap { line in
            let words = line.split(separator: " ").map { $0 == #""""# ? "" : String($0) }
            return ["--" + words[0]] + words.dropFirst()
        }
    }

    /// Writes the users into a folder, as `ops/deploy/secrets` does, but with the passwords of the file in git.
    ///
    /// - Parameter ofEveryQueue: whether their keys are those of any queue; else those of the queue `photos`.
    /// - Returns: the path of the ACL file.
    public static func users(in folder: TemporaryFolder, ofEveryQueue: Bool = false) throws
        -> String
    {
        let text = try lines("redis-users.conf").joined(separator: "\n") + "\n"
        let file = folder.file("users.acl")
        try Data((ofEveryQueue ? text.replacing("{photos}", with: "{*}") : text).utf8)
            .write(to: URL(filePath: file))
        return file
    }
}
