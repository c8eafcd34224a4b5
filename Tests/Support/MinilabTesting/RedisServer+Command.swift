import Foundation

extension RedisServer {
    /// The server's TCP address as `host:port`.
    public var address: String { "127.0.0.1:\(port)" }

    /// Runs one command with `redis-cli` over the Unix socket, as the user `admin`, and returns its output.
    @discardableResult
    public func command(_ arguments: String...) async throws -> String {
        try await command(arguments)
    }

    /// Runs one command in the same way.
    @discardableResult
    public func command(_ arguments: [String]) async throws -> String {
        let output = "redis-cli-\(UInt32.random(in: .min ... .max)).out"
        let login =
            admin.map { ["--user", $0.rawValue, "--pass", $0.password, "--no-auth-warning"] } ?? []
        let process = try ChildProcess(
            ["redis-cli", "-e", "-s", folder.file("redis.sock")] + login + arguments,
            log: folder.file(output))
        let status = try await process.wait(atMost: Self.startTimeout)
        let text = folder.text(of: output).trimmingCharacters(in: .whitespacesAndNewlines)
        guard status == 0 else {
            throw TestingFailure("\(arguments.joined(separator: " ")) at \(address): \(text)")
        }
        return text
    }

    /// Waits until the output of `arguments` has the line `line`.
    func waitFor(_ line: String, in arguments: String...) async throws {
        try await eventually("\(address) says \(line)", within: Self.startTimeout) {
            let text = try await command(arguments)
            return text.split(whereSeparator: \.isNewline).contains(Substring(line)) ? true : nil
        }
    }
}
