/// The state of a gateway's deliveries, for its metrics page. Of endpoints that another gateway delivers for, only the
/// numbers of endpoints are told.
package struct WebhookMetrics: Sendable, Equatable {
    /// Endpoints that messages are sent to.
    package var active = 0
    /// Endpoints that are disabled, by whatever reason.
    package var disabled = 0
    /// Active endpoints that this gateway delivers for.
    package var held = 0
    /// Messages that were taken, since the start of this process.
    package var delivered = 0
    /// Tries that failed, since the start of this process.
    package var failed = 0
    /// Messages that were given up after all tries, since the start of this process.
    package var givenUp = 0
    /// Gaps that were told, since the start of this process.
    package var gaps = 0
    /// Messages that wait to be sent again.
    package var parked = 0
    /// Events that were read and not yet looked at, of the endpoint that has most; at most a page of 500 is known.
    package var lagEvents = 0
    /// How far the last endpoint is behind the newest event, in seconds between the two events.
    package var lagSeconds = 0.0
}
