import NIOCore

/// The time that the other side may still take over a body, earned by the bytes that come.
///
/// It begins with a grace, is spent by waiting and earned by bytes, up to the longest stall. So a client that drips ends
/// about when its bytes stop being worth their time, and one that was fast before may not stall for ever.
struct TransferPace: Sendable, Equatable {
    private let bytesPerSecondMin: Int
    private let creditMax: Int64
    /// In nanoseconds.
    private var credit: Int64
    private var waitingSince: NIODeadline?

    init(_ limits: BorderLimits) {
        bytesPerSecondMin = max(1, limits.bytesPerSecondMin)
        creditMax = max(limits.stallMax.nanoseconds, limits.transferGrace.nanoseconds)
        credit = limits.transferGrace.nanoseconds
    }

    /// The moment at which the wait is over; nil while nobody waits.
    var due: NIODeadline? { waitingSince.map { $0 + .nanoseconds(max(0, credit)) } }

    /// Notes that this side waits for bytes now.
    mutating func wait(at now: NIODeadline) {
        if waitingSince == nil { waitingSince = now }
    }

    /// Notes that this side does not want bytes for now.
    mutating func pause(at now: NIODeadline) {
        guard let since = waitingSince else { return }
        credit -= (now - since).nanoseconds
        waitingSince = nil
    }

    /// Notes that bytes came.
    mutating func receive(_ bytes: Int, at now: NIODeadline) {
        let wasWaiting = waitingSince != nil
        pause(at: now)
        credit = min(creditMax, credit + Self.time(of: bytes, at: bytesPerSecondMin).nanoseconds)
        if wasWaiting { wait(at: now) }
    }

    /// The time that bytes are worth; no number of bytes overflows.
    static func time(of bytes: Int, at bytesPerSecond: Int) -> TimeAmount {
        let (nanoseconds, isTooMuch) = Int64(bytes).multipliedReportingOverflow(by: 1_000_000_000)
        return .nanoseconds((isTooMuch ? .max : nanoseconds) / Int64(max(1, bytesPerSecond)))
    }
}
