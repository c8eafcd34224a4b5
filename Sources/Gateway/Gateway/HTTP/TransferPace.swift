import NIOCore

/// The time that the client may still take for a body. Received bytes add to it.
///
/// The credit starts with a grace period. Waiting spends it, and bytes add to it up to the longest stall. So a client
/// that drips bytes is disconnected about when its rate falls below the minimum, and a client that was fast before
/// cannot stall for ever.
struct TransferPace: Sendable, Equatable {
    private let bytesPerSecondMin: Int
    private let creditMax: Int64
    /// The remaining credit in nanoseconds.
    private var credit: Int64
    private var waitingSince: NIODeadline?

    /// - Parameter announced: the length of the body in bytes; nil if it is not known.
    init(_ limits: BorderLimits, announced: Int?) {
        let seconds = max(1, Int(limits.bodyTimeMax.nanoseconds / 1_000_000_000))
        bytesPerSecondMin = max(1, limits.bytesPerSecondMin, (announced ?? 0) / seconds)
        creditMax = max(limits.stallMax.nanoseconds, limits.transferGrace.nanoseconds)
        credit = limits.transferGrace.nanoseconds
    }

    /// The moment at which the wait times out; nil while this side does not wait.
    var due: NIODeadline? { waitingSince.map { $0 + .nanoseconds(max(0, credit)) } }

    /// Records that this side waits for bytes from now on.
    mutating func wait(at now: NIODeadline) {
        if waitingSince == nil { waitingSince = now }
    }

    /// Records that this side wants no bytes for now.
    mutating func pause(at now: NIODeadline) {
        guard let since = waitingSince else { return }
        credit -= (now - since).nanoseconds
        waitingSince = nil
    }

    /// Records that bytes arrived.
    mutating func receive(_ bytes: Int, at now: NIODeadline) {
        let wasWaiting = waitingSince != nil
        pause(at: now)
        credit = min(creditMax, credit + Self.time(of: bytes, at: bytesPerSecondMin).nanoseconds)
        if wasWaiting { wait(at: now) }
    }

    /// Returns the time that a number of bytes earns; saturates instead of overflowing.
    static func time(of bytes: Int, at bytesPerSecond: Int) -> TimeAmount {
        let (nanoseconds, isTooMuch) = Int64(bytes).multipliedReportingOverflow(by: 1_000_000_000)
        return .nanoseconds((isTooMuch ? .max : nanoseconds) / Int64(max(1, bytesPerSecond)))
    }
}
