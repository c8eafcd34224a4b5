package import NIOCore

/// The limits of the gateway's HTTP server on bytes, time and counts.
package struct BorderLimits: Sendable {
    /// The most bytes of a request target, still percent-encoded.
    package var targetBytesMax = 8 << 10
    /// The most bytes of all names and values of a request's header fields.
    package var headerBytesMax = 16 << 10
    /// The most header fields of a request.
    package var headerFieldsMax = 100
    /// The most requests on a connection; the response to the last one announces the close.
    package var requestsMax = 10_000
    /// The most open connections; a further one replaces one of them (``OpenConnections``).
    package var connectionsMax = 4_096

    /// The longest time from the first byte of a request to the end of its header.
    package var headerTime = TimeAmount.seconds(10)
    /// The longest time without a request.
    package var idleTime = TimeAmount.seconds(60)
    /// Time that a body may take beyond its length divided by ``bytesPerSecondMin``.
    package var transferGrace = TimeAmount.seconds(5)
    /// The lowest allowed rate in bytes a second, in both directions. Kestrel has the same number.
    package var bytesPerSecondMin = 240
    /// The longest time of a body with an announced length: a long one must come faster than ``bytesPerSecondMin``, 4 GB with 1.2 MB
    /// a second. At 240 bytes a second, 4 GB would hold a connection and a part of the disk for 200 days.
    package var bodyTimeMax = TimeAmount.hours(1)
    /// The longest stall of a request's body, however fast it was before.
    package var stallMax = TimeAmount.seconds(60)

    /// The longest time for which the bytes of a refused request are discarded so that its client can read the refusal.
    /// Closing a connection with unread bytes would reset it (RFC 9112, 9.6).
    package var lingerTime = TimeAmount.seconds(2)
    /// The most bytes that are discarded so.
    package var lingerBytesMax = 4 << 20

    /// Creates the default limits.
    package init() {}
}
