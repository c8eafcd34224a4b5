/// How deliveries are made.
package struct WebhookSettings: Sendable {
    /// Longest time of one delivery, from the look-up of the name to the end of the answer.
    package var timeout = Duration.seconds(15)
    /// How long a gateway delivers for an endpoint without a word before another one may; above twice the timeout.
    package var lease = Duration.seconds(40)
    /// Deliveries at a time, of one gateway.
    package var concurrencyMax = 64
    /// When what failed is sent again.
    package var retries = RetrySchedule()
    /// How long nothing was taken before an endpoint is disabled.
    package var failingMax = Duration.seconds(5 * 86_400)
    /// After so many failures in a row new events wait in the stream, and only what is parked is tried.
    package var failuresBeforeHolding = 5
    /// How often the first event that waits is tried meanwhile: what is parked may be due in a day only.
    package var probeInterval = Duration.seconds(300)
    /// How often an endpoint is looked at that nothing happens for.
    package var idle = Duration.seconds(5)
    /// How often all endpoints are read anew, should word of a change have been lost.
    package var reloadInterval = Duration.seconds(30)

    package init() {}
}
