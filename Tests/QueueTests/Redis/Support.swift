import Logging
import MinilabTesting
import Redis

/// A client for the test's body, closed after it.
func withClient<Result>(
    _ url: String, thread: RedisClient.Thread = .shared,
    configure: (inout RedisConfiguration) -> Void = { _ in },
    body: (RedisClient) async throws -> Result
) async throws -> Result {
    var configuration = RedisConfiguration(url: try RedisURL(url))
    // A busy machine hurries nobody: tests of a time limit set their own.
    (configuration.connectTimeout, configuration.commandTimeout) = (.seconds(60), .seconds(60))
    configuration.backoffBase = .milliseconds(2)
    configuration.backoffMax = .milliseconds(50)
    configure(&configuration)
    let client = RedisClient(configuration, thread: thread, logger: Logger(label: "test"))
    do {
        let result = try await body(client)
        await client.close()
        return result
    } catch {
        await client.close()
        throw error
    }
}

/// The error of a call, or nil when it succeeds.
func failure(_ call: () async throws(RedisError) -> RedisReply) async -> RedisError? {
    do throws(RedisError) {
        _ = try await call()
        return nil
    } catch {
        return error
    }
}
