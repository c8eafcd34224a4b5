/// The state of a gateway's deliveries, for its metrics page. Endpoints for which another gateway delivers appear only in the
/// numbers of endpoints.
package struct WebhookMetrics: Sendable, Equatable {
    /// The number of active endpoints.
    package var active = 0
    /// The number of disabled endpoints, for any reason.
    package var disabled = 0
    /// The number of active endpoints for which this gateway delivers.
    package var held = 0
    /// The number of accepted messages since the start of this process.
    package var delivered = 0
    /// The number of failed attempts since the start of this process.
    package var failed = 0
    /// The number of messages that were given up after all attempts, since the start of this process.
    package var givenUp = 0
    /// The number of reported gaps since the start of this process.
    package var gaps = 0
    /// The number of messages that wait for another attempt.
    package var parked = 0
    /// The number of events that were read and not yet processed, of the endpoint that has most; at most a page of 500 is known.
    package var lagEvents = 0
    /// The largest delay of an endpoint behind the newest event, in seconds between the two events.
    package var lagSeconds = 0.0
}
