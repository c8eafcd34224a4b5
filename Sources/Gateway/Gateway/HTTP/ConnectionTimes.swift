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

    /// The reasons to close a connection.
    enum Cause: Sendable, Equatable {
        /// There was no request for too long.
        case idle
        /// A head arrived too slowly.
        case slowHead
        /// A body arrived too slowly.
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
        pace = TransferPace(limits, announced: announced)
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
