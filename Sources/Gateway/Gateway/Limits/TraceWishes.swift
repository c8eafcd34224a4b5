import AccessKeys
import Edits
import Tracing
import Telemetry

/// The wishes of clients that their traces be recorded.
///
/// A sender that says so is obeyed, whatever share of the others is recorded. Clients of a gateway are obeyed a number of times a
/// second each: all their spans go to the operator's one collector. What exceeds that begins a trace of its own, by the usual share.
struct TraceWishes: Sendable {
    /// The wishes that are granted a second, and at once after a pause.
    static let perSecond = 20
    static let atOnce = 200

    private let granted = RateLimiter(name: "traces")

    /// Returns the context of what follows a trace of a client.
    ///
    /// - Parameters:
    ///   - parent: what the client sent; nil: nothing.
    ///   - caller: the id of its key, or its address where it presents none: behind a proxy, all clients have one address. It is asked
    ///     for only where something is wished.
    func context(
        following parent: Traceparent?, of caller: @autoclosure () -> String
    ) -> ServiceContext {
        guard let parent, parent.isSampled,
            !granted.consume(for: caller(), rate: Self.perSecond, burst: Self.atOnce).isAllowed
        else { return .following(parent) }
        return .following(nil)
    }
}
