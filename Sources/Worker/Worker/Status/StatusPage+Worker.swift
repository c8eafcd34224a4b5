public import Telemetry

extension StatusPage {
    /// The pages of a worker.
    ///
    /// - Parameter traces: metrics of the spans that it sends.
    public static func pages(
        metrics: WorkerMetrics, health: WorkerHealth, queue: QueueGauges,
        traces: @escaping @Sendable () -> [MetricFamily] = { [] }
    ) -> [StatusPage] {
        [
            StatusPage("/metrics") {
                let families =
                    metrics.families() + health.families() + (await queue.families())
                    + traces()
                return StatusAnswer(Exposition.mediaType, Exposition.text(families))
            },
            StatusPage("/healthz") { StatusAnswer(health.alive()) },
            StatusPage("/readyz") { StatusAnswer(health.ready()) },
        ]
    }
}
