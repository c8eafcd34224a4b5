import NIOCore

/// The deadlines of one connection: told what happens on it, it says when it has to be closed.
///
/// A response that makes no bytes has no deadline: it may be a stream of events.
struct ConnectionTimes: Sendable {
    private let limits: BorderLimits
    /// Requests whose head was read and whose response is not written yet.
    private var openRequests = 0
    private var isInBody = false
    /// Whether the client holds its body back until it is asked for.
    private var awaitsContinue = false
    private var isReading = false
    private var idleSince: NIODeadline?
    private var headSince: NIODeadline?
    private var pace: TransferPace?
    /// Bytes that were written and that the kernel has not taken.
    private(set) var unsentBytes = 0
    /// When the kernel took bytes last, or got the first of those that wait.
    private var sendingSince: NIODeadline?

    /// Most bytes that are written at once. The kernel says nothing of parts, so a larger write would be worth hours.
    static let writtenBytesMax = 64 << 10

    /// The reasons to close a connection.
    enum Cause: Sendable, Equatable {
        /// There was no request for long.
        case idle
        /// A head came too slowly.
        case slowHead
        /// A body came too slowly.
        case slowBody
        /// A response was read too slowly.
        case slowReader
    }

    init(_ limits: BorderLimits, openedAt now: NIODeadline) {
        self.limits = limits
        idleSince = now
    }

    /// When the connection is to be closed, and why; nil while nothing is due.
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

    /// The other side's bytes were read, whatever they are.
    mutating func readSome(at now: NIODeadline) {
        isReading = false
        if isInBody {
            pace?.pause(at: now)
        } else if openRequests == 0, headSince == nil, idleSince.map({ $0 <= now }) == true {
            headSince = now
        }
    }

    /// This side wants more bytes.
    mutating func wantMore(at now: NIODeadline) {
        isReading = true
        if isInBody, !awaitsContinue { pace?.wait(at: now) }
    }

    /// A request's head is read.
    mutating func readHead(awaitsContinue: Bool, at now: NIODeadline) {
        openRequests += 1
        (idleSince, headSince) = (nil, nil)
        (isInBody, self.awaitsContinue) = (true, awaitsContinue)
        pace = TransferPace(limits)
    }

    /// The client was told to send the body that it holds back.
    mutating func askForBody(at now: NIODeadline) {
        awaitsContinue = false
        if isInBody, isReading { pace?.wait(at: now) }
    }

    /// A part of a body is read.
    mutating func readBody(_ bytes: Int, at now: NIODeadline) {
        awaitsContinue = false
        pace?.receive(bytes, at: now)
    }

    /// A request is read whole.
    mutating func readEnd() {
        isInBody = false
        pace = nil
    }

    /// A response is written whole.
    mutating func writeEnd(at now: NIODeadline) {
        openRequests = max(0, openRequests - 1)
        if openRequests == 0, !isInBody { idleSince = now }
    }

    /// Bytes were handed to the kernel's queue.
    mutating func write(_ bytes: Int, at now: NIODeadline) {
        unsentBytes += bytes
        if sendingSince == nil { sendingSince = now }
    }

    /// The kernel took bytes.
    mutating func sent(_ bytes: Int, at now: NIODeadline) {
        unsentBytes -= bytes
        sendingSince = unsentBytes > 0 ? now : nil
    }
}
