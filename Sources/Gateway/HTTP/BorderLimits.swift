package import NIOCore

/// The limits of the gateway's HTTP server: on bytes, on time, on counts.
package struct BorderLimits: Sendable {
    /// Most bytes of a request's target, as it was sent.
    package var targetBytesMax = 8 << 10
    /// Most bytes of all names and values of a request's header fields.
    package var headerBytesMax = 16 << 10
    /// Most header fields of a request.
    package var headerFieldsMax = 100
    /// Most requests that a connection may carry; the last one's response says that it is closed.
    package var requestsMax = 10_000
    /// Most open connections; further ones wait to be accepted.
    package var connectionsMax = 4_096

    /// Longest time from the first byte of a request to the end of its header.
    package var headerTime = TimeAmount.seconds(10)
    /// Longest time without a request.
    package var idleTime = TimeAmount.seconds(60)
    /// Time that a body may take beyond what its bytes are worth at ``bytesPerSecondMin``.
    package var transferGrace = TimeAmount.seconds(5)
    /// Least bytes a second, either way. Kestrel has the same number.
    package var bytesPerSecondMin = 240
    /// Longest stall of a request's body, however fast it was before.
    package var stallMax = TimeAmount.seconds(60)

    /// Longest time that the bytes of a refused request are thrown away, so that its client can read the refusal: closing
    /// with unread bytes would reset the connection (RFC 9112, 9.6).
    package var lingerTime = TimeAmount.seconds(2)
    /// Most such bytes.
    package var lingerBytesMax = 4 << 20

    /// The limits of the gateway.
    package init() {}
}
