import JobQueue
import Logging
import Redis

extension QueueOptions {
    /// Opens the queue for one command and closes its connection afterwards.
    func withQueue<Result: Sendable>(
        _ body: (JobQueue, RedisClient) async throws -> Result
    ) async throws -> Result {
        var reader = SettingsReader(try source())
        let connection = QueueConnection(&reader)
        let logger = makeLogger(&reader, defaultLevel: .warning)
        try reader.finish()
        let redis = RedisClient(connection.redis, logger: logger)
        do {
            let result = try await body(JobQueue(name: connection.name, redis: redis), redis)
            await redis.close()
            return result
        } catch {
            await redis.close()
            throw error
        }
    }
}
