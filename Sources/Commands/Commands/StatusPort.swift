import JobQueue
import Logging
import Redis
import RenderPool
import RenderProtocol
import Worker
import Telemetry

/// The status port of a worker process, with the metrics and the health that it serves.
struct StatusPort {
    let server: StatusServer
    private let metrics: WorkerMetrics
    private let health: WorkerHealth
    private let redis: RedisClient

    /// Opens the port, if the settings name one.
    static func open(
        _ settings: StatusSettings, _ connection: QueueConnection, _ queueSettings: QueueSettings,
        _ worker: WorkerSettings, _ traces: TraceExporter?, _ logger: Logger
    ) async throws -> StatusPort? {
        guard let port = settings.port else { return nil }
        let metrics = WorkerMetrics(
            version: Engine.version, worker: worker.name, queue: connection.name.string,
            slots: worker.rendering.slots)
        let health = WorkerHealth(slots: worker.rendering.slots, lease: queueSettings.lease)
        // The port has its own connection: a scrape that times out closes the connection for all its calls.
        let redis = RedisClient(connection.redis, logger: logger)
        let queue = JobQueue(name: connection.name, redis: redis, settings: queueSettings)
        do {
            let server = try await StatusServer.open(
                host: settings.host, port: port,
                pages: StatusPage.pages(
                    metrics: metrics, health: health, queue: QueueGauges(queue: queue),
                    traces: { traces?.families() ?? [] }),
                logger: logger)
            return StatusPort(server: server, metrics: metrics, health: health, redis: redis)
        } catch {
            await redis.close()
            throw error
        }
    }

    func record(_ event: WorkerEvent) {
        metrics.record(event)
        health.record(event)
    }

    func close() async {
        await server.close()
        await redis.close()
    }
}
