/// The settings of deliveries.
package struct WebhookSettings: Sendable {
    /// The maximum time of one delivery, from the look-up of the name to the end of the response.
    package var timeout = Duration.seconds(15)
    /// The time for which a gateway may deliver for an endpoint without renewing its lease; above twice the timeout.
    package var lease = Duration.seconds(40)
    /// The maximum number of simultaneous deliveries of one gateway.
    package var concurrencyMax = 64
    /// The delays before failed messages are retried.
    package var retries = RetrySchedule()
    /// The time without an accepted message after which an endpoint is disabled.
    package var failingMax = Duration.seconds(5 * 86_400)
    /// The number of consecutive failures after which new events wait in the stream and only parked messages are retried.
    package var failuresBeforePause = 5
    /// The interval at which the first waiting event is tried meanwhile, because the parked messages may be due only in a day.
    package var probeInterval = Duration.seconds(300)
    /// The interval at which an endpoint without events is checked.
    package var idle = Duration.seconds(5)
    /// The interval at which all endpoints are read again, in case the notice of a change was lost.
    package var reloadInterval = Duration.seconds(30)

    package init() {}
}
