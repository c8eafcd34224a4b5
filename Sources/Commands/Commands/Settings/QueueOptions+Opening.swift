import JobQueue
import Logging
import Redis
import Telemetry
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
        for warning in connection.warnings { logger.warning("\(warning)") }
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
    /// Skips the settings of a queue, for a command that uses none. So the command does not read the queue's password.
    package mutating func passOverQueueSettings() {
        passOver { reader in
            _ = QueueConnection(&reader)
            _ = QueueSettings(&reader)
            _ = StatusSettings(&reader)
            _ = TraceSettings(&reader)
        }
    }

    /// Skips the settings that only workers need, valid or not. Operators inspect a queue most urgently when its
    /// workers do not start.
    package mutating func passOverWorkerSettings() {
        passOver { reader in
            _ = WorkerSettings(&reader)
            _ = StatusSettings(&reader)
            _ = LibraryLocation(&reader)
        }
    }
}
