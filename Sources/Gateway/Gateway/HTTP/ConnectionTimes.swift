import NIOCore

/// The deadlines of one connection. Its methods record the connection's events, and ``due`` states when to close it.
///
/// A response that is sending no bytes has no deadline, because it may be a stream of events.
struct ConnectionTimes: Sendable {
    private let limits: BorderLimits
    /// Requests whose head was read and whose response is not fully written.
    private var openRequests = 0
    private var isInBody = false
    /// Whether the client holds its body back until it receives 100 Continue.
    private var awaitsContinue = false
    private var isReading = false
    private var idleSince: NIODeadline?
    private var headSince: NIODeadline?
    private var pace: TransferPace?
    /// Bytes that were written and that the kernel has not accepted.
    private(set) var unsentBytes = 0
    /// The time at which the kernel last accepted bytes, or at which the first of the waiting bytes were written.
    private var sendingSince: NIODeadline?

    /// The most bytes of one write. The kernel does not report partial writes, so a larger write would earn hours.
    static let writtenBytesMax = 64 << 10

    enum Cause: Sendable, Equatable {
        case idle
        case slowHead
        case slowBody
        /// The client read a response too slowly.
        case slowReader
    }

    init(_ limits: BorderLimits, openedAt now: NIODeadline) {
        self.limits = limits
        idleSince = now
    }

    /// The time at which to close the connection, and the cause; nil while nothing is due.
    var due: (at: NIODeadline, cause: Cause)? {
        var dues: [(at: NIODeadline, cause: Cause)] = []
        if let headSince { dues.append((headSince + limits.headerTime, .slowHead)) }
        if let idleSince { dues.append((idleSince + limits.idleTime, .idle)) }
        if let due = pace?.due { dues.append((due, .slowBody)) }
        if let sendingSince {
            let next = TransferPace.time(
                of: min(unsentBytes, Self.writtenBytesMax), at: limits.bytesPerSecondMin)
            dues.append((sendingSince + limits.transferGrace + next, .slowReader))
        }
        return dues.min { $0.at < $1.at }
    }

    /// Records that bytes of the client were read, of any kind.
    mutating func readSome(at now: NIODeadline) {
        isReading = false
        if isInBody {
            pace?.pause(at: now)
        } else if openRequests == 0, headSince == nil, idleSince.map({ $0 <= now }) == true {
            headSince = now
        }
    }

    /// Records that this side is ready for more bytes.
    mutating func wantMore(at now: NIODeadline) {
        isReading = true
        if isInBody, !awaitsContinue { pace?.wait(at: now) }
    }

    /// Records that a request's head was read.
    ///
    /// - Parameter announced: the length of its body in bytes; nil if it is not known.
    mutating func readHead(awaitsContinue: Bool, announced: Int? = nil, at now: NIODeadline) {
        openRequests += 1
        (idleSince, headSince) = (nil, nil)
        (isInBody, self.awaitsContinue) = (true, awaitsContinue)
        pace = TransferPace(limits, announced: announced, at: now)
    }

    /// Records that the client was asked for the body that it holds back.
    mutating func askForBody(at now: NIODeadline) {
        awaitsContinue = false
        if isInBody, isReading { pace?.wait(at: now) }
    }

    /// Records that a part of a body was read.
    mutating func readBody(_ bytes: Int, at now: NIODeadline) {
        awaitsContinue = false
        pace?.receive(bytes, at: now)
    }

    /// Records that a request was read completely.
    mutating func readEnd() {
        isInBody = false
        pace = nil
    }

    /// Records that a response was written completely.
    mutating func writeEnd(at now: NIODeadline) {
        openRequests = max(0, openRequests - 1)
        if openRequests == 0, !isInBody { idleSince = now }
    }

    /// Records that bytes were passed to the kernel.
    mutating func write(_ bytes: Int, at now: NIODeadline) {
        unsentBytes += bytes
        if sendingSince == nil { sendingSince = now }
    }

    /// Records that the kernel accepted bytes.
    mutating func sent(_ bytes: Int, at now: NIODeadline) {
        unsentBytes -= bytes
        sendingSince = unsentBytes > 0 ? now : nil
    }
}

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
    /// The end of a body whose length is not known.
    private let end: NIODeadline?

    /// - Parameters:
    ///   - announced: the length of the body in bytes; nil if it is not known.
    ///   - now: the time at which the body begins.
    init(_ limits: BorderLimits, announced: Int?, at now: NIODeadline) {
        end = announced == nil ? now + limits.bodyTimeMax : nil
        let seconds = max(1, Int(limits.bodyTimeMax.nanoseconds / 1_000_000_000))
        bytesPerSecondMin = max(1, limits.bytesPerSecondMin, (announced ?? 0) / seconds)
        creditMax = max(limits.stallMax.nanoseconds, limits.transferGrace.nanoseconds)
        credit = limits.transferGrace.nanoseconds
    }

    /// The moment at which the wait times out; nil while this side does not wait.
    var due: NIODeadline? {
        waitingSince.map { since in
            let due = since + .nanoseconds(max(0, credit))
            return end.map { min(due, $0) } ?? due
        }
    }

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
