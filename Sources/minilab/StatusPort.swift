import JobQueue
import Logging
import Redis
import RenderProtocol
import Status
import StatusServing
import Worker

/// The status port of a worker process, with what it tells.
struct StatusPort {
    let server: StatusServer
    private let metrics: WorkerMetrics
    private let health: WorkerHealth
    private let redis: RedisClient

    /// Opens the port, if the settings name one.
    static func open(
        _ settings: StatusSettings, _ connection: QueueConnection, _ queueSettings: QueueSettings,
        _ worker: WorkerSettings, _ logger: Logger
    ) async throws -> StatusPort? {
        guard let port = settings.port else { return nil }
        let metrics = WorkerMetrics(
            version: Engine.version, worker: worker.name, queue: connection.name.string,
            slots: worker.slots)
        let health = WorkerHealth(slots: worker.slots, lease: queueSettings.lease)
        // Of its own: a scrape that gives up ends the connection for all calls on it.
        let redis = RedisClient(connection.redis, logger: logger)
        let queue = JobQueue(name: connection.name, redis: redis, settings: queueSettings)
        do {
            let server = try await StatusServer.open(
                host: settings.host, port: port,
                pages: StatusPage.pages(
                    metrics: metrics, health: health, queue: QueueGauges(queue: queue)),
                logger: logger)
            return StatusPort(server: server, metrics: metrics, health: health, redis: redis)
        } catch {
            await redis.close()
            throw error
        }
    }

    /// Counts what the worker tells.
    func record(_ event: WorkerEvent) {
        metrics.record(event)
        health.record(event)
    }

    /// Closes what the port itself has open.
    func close() async {
        await server.close()
        await redis.close()
    }
}
