import JobQueue
import Logging
import Redis
import Worker

extension QueueOptions {
    /// Opens the queue for one command and closes its connection afterwards.
    func withQueue<Result: Sendable>(
        _ body: (JobQueue, RedisClient) async throws -> Result
    ) async throws -> Result {
        var reader = SettingsReader(try source())
        let connection = QueueConnection(&reader)
        let settings = QueueSettings(&reader)
        reader.passOverWorkerSettings()
        let logger = makeLogger(&reader, defaultLevel: .warning)
        try reader.finish()
        let redis = RedisClient(connection.redis, logger: logger)
        do {
            let result = try await body(
                JobQueue(name: connection.name, redis: redis, settings: settings), redis)
            await redis.close()
            return result
        } catch {
            await redis.close()
            throw error
        }
    }
}

extension SettingsReader {
    /// Lets a file say what only workers need; all of it has to be right.
    mutating func passOverWorkerSettings() {
        _ = WorkerSettings(&self)
        _ = StatusSettings(&self)
        for folder in ["library", "originals"] {
            _ = optional(.text(folder, "the path of a folder"))
        }
    }
}
