public import StatusServing
import Telemetry

extension StatusPage {
    /// Returns the pages of a worker.
    public static func pages(
        metrics: WorkerMetrics, health: WorkerHealth, queue: QueueGauges
    ) -> [StatusPage] {
        [
            StatusPage("/metrics") {
                let families =
                    metrics.families() + health.families() + (await queue.families())
                return StatusAnswer(Exposition.mediaType, Exposition.text(families))
            },
            StatusPage("/healthz") { StatusAnswer(health.alive()) },
            StatusPage("/readyz") { StatusAnswer(health.ready()) },
        ]
    }
}
