package import JobQueue
import Library
package import Logging
package import Redis
package import RenderPool
import SystemPackage
package import Worker

/// A worker with its parts: connections to Redis, a library, a pool of render children.
package struct WorkerParts {
    package let queue: JobQueue
    let pool: RenderPool
    package let worker: Worker
    private let clients: [RedisClient]

    /// - Parameter keepsOfQueue: as ``WorkerSettings/keepsOfQueue``: not of a queue that lives as long as one command.
    init(
        _ connection: QueueConnection, _ queueSettings: QueueSettings, _ settings: WorkerSettings,
        library: OpenStore, keepsOfQueue: Bool = true, _ logger: Logger,
        metrics: WorkerMetrics = WorkerMetrics()
    ) {
        var settings = settings
        settings.library = library.ofQueue
        settings.keepsOfQueue = keepsOfQueue
        if keepsOfQueue { settings.disk = library.library.staging.root }
        let brake = ClaimBrake(metrics: metrics)
        let pool = RenderPool(
            settings: settings.rendering, logger: logger, metrics: metrics.rendering,
            backlog: { brake.pullForMemory($0) }, trouble: { brake.pullForChildren($0) })
        let pressure =
            settings.pressure.watches
            ? PressureWatch(
                settings.pressure, root: settings.rendering.memoryRoot, pool: pool,
                logger: logger) : nil
        self.init(
            connection, queueSettings, settings, pool, logger, brake: brake, pressure: pressure,
            metrics: metrics,
            handler: PhotoJobHandler(
                queue: connection.name, library: library.library, pool: pool, settings: settings))
    }

    /// - Parameters:
    ///   - pressure: the monitor of memory pressure; nil for none.
    ///   - thread: the thread of the heartbeat's client; by default its own, because heartbeats must continue whatever
    ///     the rest of the process does.
    ///   - handler: processes each job.
    package init(
        _ connection: QueueConnection, _ queueSettings: QueueSettings, _ settings: WorkerSettings,
        _ pool: RenderPool, _ logger: Logger, brake: ClaimBrake = ClaimBrake(),
        pressure: PressureWatch? = nil, heartbeat thread: RedisClient.Thread = .own,
        metrics: WorkerMetrics = WorkerMetrics(), handler: any JobHandler
    ) {
        let main = RedisClient(connection.redis, logger: logger)
        let ingressReads = RedisClient(connection.redis, logger: logger)
        let wakeReads = RedisClient(connection.redis, logger: logger)
        let controlReads = RedisClient(connection.redis, logger: logger)
        let beat = RedisClient(connection.redis, thread: thread, logger: logger)
        clients = [main, ingressReads, wakeReads, controlReads, beat]
        queue = JobQueue(name: connection.name, redis: main, settings: queueSettings)
        self.pool = pool
        worker = Worker(
            queue: queue, handler: handler, ingressReads: ingressReads, wakeReads: wakeReads,
            controlReads: controlReads,
            heartbeat: Heartbeat(
                queue: queue, redis: beat, worker: WorkerInfo(settings), logger: logger,
                memory: { pool.memory.map { WorkerMemory($0) } },
                pressure: { pressure?.shortage.map { WorkerInfo.Pressure($0) } },
                trouble: { brake.trouble },
                listener: { metrics.note($0) }),
            pressure: pressure, settings: settings, brake: brake, logger: logger,
            metrics: metrics)
    }

    package func close() async {
        await pool.close()
        for client in clients { await client.close() }
    }
}
