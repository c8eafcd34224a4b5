extension RedisClient {
    /// The maximum number of times that one run loads a script which the server keeps forgetting (`SCRIPT FLUSH`).
    static let scriptLoadsMax = 3

    /// Runs a script and returns its reply.
    ///
    /// Sends the script's SHA-1 (`EVALSHA`). Sends its source (`SCRIPT LOAD`) only if no server has returned the SHA-1 yet, or
    /// if this server does not know the script, as after a restart.
    ///
    /// - Parameter timeout: As in ``send(_:timeout:)``, for all commands of this run together.
    ///
    /// Throws as ``send(_:timeout:)`` does; an error in the script is the server's.
    public func run(
        _ script: RedisScript, keys: [String], arguments: [RedisArgument],
        timeout: Duration? = nil
    ) async throws(RedisError) -> RedisReply {
        let end = ContinuousClock.now + (timeout ?? configuration.commandTimeout)
        var sha = script.sha
        var loads = 0
        while true {
            if let sha {
                do throws(RedisError) {
                    var command: [RedisArgument] = ["EVALSHA", RedisArgument(sha)]
                    command.reserveCapacity(3 + keys.count + arguments.count)
                    command.append(RedisArgument(keys.count))
                    command.append(contentsOf: keys.lazy.map { RedisArgument($0) })
                    command.append(contentsOf: arguments)
                    return try await send(command, timeout: end - .now)
                } catch {
                    guard error.serverError?.prefix == "NOSCRIPT", loads < Self.scriptLoadsMax
                    else { throw error }
                }
            }
            sha = try await load(script, timeout: end - .now)
            loads += 1
        }
    }

    private func load(
        _ script: RedisScript, timeout: Duration
    ) async throws(RedisError) -> String {
        let reply: RedisReply
        do throws(RedisError) {
            reply = try await send(
                ["SCRIPT", "LOAD", RedisArgument(script.source)], timeout: timeout)
        } catch {
            // Loading a script does not execute it.
            throw RedisError(
                error.code, "The script \(script.name) could not be loaded. \(error.message)",
                serverError: error.serverError)
        }
        guard let sha = reply.string, sha.utf8.count == 40 else {
            throw RedisError(
                .protocolViolation,
                "SCRIPT LOAD of \(script.name) gave \(reply); expected a SHA-1 in hexadecimal.")
        }
        script.sha = sha
        return sha
    }
}
