import JobQueue
import Logging
import Redis
import Worker
import Telemetry

/// The status port of a worker process, with the metrics and the health that it serves.
struct StatusPort {
    let server: StatusServer
    private let redis: RedisClient

    /// Opens the port, if the settings name one.
    static func open(
        _ settings: StatusSettings, _ connection: QueueConnection, _ queueSettings: QueueSettings,
        _ metrics: WorkerMetrics, _ traces: TraceExporter?, _ logger: Logger
    ) async throws -> StatusPort? {
        guard let port = settings.port else { return nil }
        // The port has its own connection: a reply that is late closes the connection for all its calls.
        let redis = RedisClient(connection.redis, logger: logger)
        let queue = JobQueue(name: connection.name, redis: redis, settings: queueSettings)
        do {
            let server = try await StatusServer.open(
                host: settings.host, port: port,
                pages: StatusPage.pages(
                    metrics: metrics, queue: QueueGauges(queue: queue),
                    traces: { traces?.families() ?? [] }),
                logger: logger)
            return StatusPort(server: server, redis: redis)
        } catch {
            await redis.close()
            throw error
        }
    }

    func close() async {
        await server.close()
        await redis.close()
    }
}
