public import Logging
import NIOCore
import NIOPosix

/// A Redis client with one connection that all its callers share.
///
/// Simultaneous calls are pipelined. The first call connects. A lost connection is re-established after a wait with full jitter,
/// and meanwhile calls wait for it up to their deadlines. The client never repeats a call that was written on a connection which
/// then ended: its error has ``RedisError/mayHaveExecuted`` set. If the URL names sentinels or a cluster, a call that the wrong
/// server refused is sent to the right one. All keys of one client's calls must be in one slot, otherwise the client would
/// alternate between nodes.
///
/// A cancelled call ends at once. If it was written, its reply is passed over when it comes, and the other calls go on. A deadline
/// after the writing ends the connection for all calls on it, because RESP does not number its replies, and so does the cancellation of
/// a blocking read (`XREAD BLOCK`), for which the server waits. So a blocking read needs a client of its own, and a timeout longer than
/// its block.
///
/// The actor runs on its event loop's thread. Another actor may run there too, if it returns this client's ``unownedExecutor`` as
/// its own and retains the client for its whole lifetime.
public actor RedisClient {
    /// The thread of a client.
    public enum Thread: Sendable {
        /// A thread of its own; it ends when the last reference to the client is released.
        case own
        /// One of the process's event loops.
        case shared
    }

    let configuration: RedisConfiguration
    nonisolated let eventLoop: any EventLoop
    private let ownGroup: MultiThreadedEventLoopGroup?
    private let loopBoundLink: NIOLoopBoundBox<RedisLink>
    private var nextID: UInt64 = 0

    public init(_ configuration: RedisConfiguration, thread: Thread = .shared, logger: Logger) {
        let ownGroup =
            switch thread {
            case .own: MultiThreadedEventLoopGroup(numberOfThreads: 1)
            case .shared: nil as MultiThreadedEventLoopGroup?
            }
        self.configuration = configuration
        self.ownGroup = ownGroup
        eventLoop = ownGroup?.next() ?? MultiThreadedEventLoopGroup.singleton.next()
        loopBoundLink = .makeBoxSendingValue(
            RedisLink(configuration, on: eventLoop, logger: logger), eventLoop: eventLoop)
    }

    /// Closes the connection of a client that was not closed, and ends the thread of a client with a thread of its own.
    ///
    /// The thread ends here and not in ``close()``: a later call would wait forever for a thread that is gone, and so would any
    /// actor that shares the executor.
    deinit {
        // Not an `isolated deinit`: with one, Swift 6.3.1 fails with "circular reference" when it optimizes a module that creates
        // a client.
        eventLoop.execute { [loopBoundLink] in loopBoundLink.value.close() }
        ownGroup?.shutdownGracefully { _ in
            // This fails only for a group that was shut down before, and no other code shuts it down.
        }
    }

    private var link: RedisLink { loopBoundLink.value }

    /// The user as which it logs in.
    public nonisolated var user: String { configuration.url.user ?? "default" }

    /// The event loop of the connection.
    public nonisolated var unownedExecutor: UnownedSerialExecutor {
        eventLoop.executor.asUnownedSerialExecutor()
    }

    /// Sends a command and returns its reply.
    ///
    /// - Parameters:
    ///   - command: The name and its arguments. Commands that would change the connection for its
    ///     other callers (`SELECT`, `SUBSCRIBE`, `MULTI` …) are refused.
    ///   - timeout: The time from this call to the reply, reconnects included; nil means
    ///     ``RedisConfiguration/commandTimeout``.
    ///
    /// Throws when there is no reply, and ``RedisError/Code/server`` when the reply is an error;
    /// the null reply is not an error.
    public func send(
        _ command: [RedisArgument], timeout: Duration? = nil
    ) async throws(RedisError) -> RedisReply {
        try CommandRules.check(command, configuration: configuration)
        return try await submit(command, timeout: timeout)
    }

    private func submit(
        _ command: [RedisArgument], timeout: Duration?
    ) async throws(RedisError) -> RedisReply {
        let id = nextID
        nextID += 1
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                link.submit(id: id, command, timeout: timeout, waiter: .one(waiter))
                // The handler below may have run before there was a call to cancel.
                if Task.isCancelled { link.cancel(id: id) }
            }
        } onCancel: {
            eventLoop.execute { self.assumeIsolated { $0.link.cancel(id: id) } }
        }
        return try result.get()
    }

    func submit(_ command: [RedisArgument], timeout: Duration?, waiter: RedisLink.Waiter) {
        link.submit(id: nextID, command, timeout: timeout, waiter: waiter)
        nextID += 1
    }

    /// Whether the client has received no call yet.
    var isIdle: Bool { link.state.phase == .idle }

    /// The number of written commands that wait for their replies.
    var writtenCount: Int { link.state.written.count }

    /// Closes the connection and ends all calls; later calls fail with ``RedisError/Code/closed``.
    ///
    /// Returns when the socket is closed. A second call does nothing.
    public func close() async {
        let closed = link.handler?.closed
        link.close()
        // A channel that closes with an error is closed nevertheless.
        try? await closed?.get()
    }
}

extension RedisClient {
    /// The maximum number of times that one run loads a script which the server keeps forgetting (`SCRIPT FLUSH`).
    static let scriptLoadsMax = 3

    /// Runs a script and returns its reply.
    ///
    /// Sends the script's SHA-1 (`EVALSHA`). Sends its source (`SCRIPT LOAD`) only if no server has returned the SHA-1 yet, or
    /// if this server does not know the script, as after a restart.
    ///
    /// - Parameter timeout: As in ``send(_:timeout:)``, for all commands of this run together.
    ///
    /// Throws as ``send(_:timeout:)`` does; an error in the script is the server's.
    public func run(
        _ script: RedisScript, keys: [String], arguments: [RedisArgument],
        timeout: Duration? = nil
    ) async throws(RedisError) -> RedisReply {
        let end = ContinuousClock.now + (timeout ?? configuration.commandTimeout)
        var sha = script.sha
        var loads = 0
        while true {
            if let sha {
                do throws(RedisError) {
                    var command: [RedisArgument] = ["EVALSHA", RedisArgument(sha)]
                    command.reserveCapacity(3 + keys.count + arguments.count)
                    command.append(RedisArgument(keys.count))
                    command.append(contentsOf: keys.lazy.map { RedisArgument($0) })
                    command.append(contentsOf: arguments)
                    return try await send(command, timeout: end - .now)
                } catch {
                    guard error.serverError?.prefix == "NOSCRIPT", loads < Self.scriptLoadsMax
                    else { throw error }
                }
            }
            sha = try await load(script, timeout: end - .now)
            loads += 1
        }
    }

    private func load(
        _ script: RedisScript, timeout: Duration
    ) async throws(RedisError) -> String {
        let reply: RedisReply
        do throws(RedisError) {
            reply = try await send(
                ["SCRIPT", "LOAD", RedisArgument(script.source)], timeout: timeout)
        } catch {
            // Loading a script does not execute it. Redis 6 does not compile its first line.
            let advice =
                error.serverError?.prefix == "ERR"
                ? ". Redis 7.0 or newer, or Valkey, is needed." : ""
            throw RedisError(
                error.code,
                "The script \(script.name) could not be loaded. \(error.message)\(advice)",
                serverError: error.serverError)
        }
        guard let sha = reply.string, sha.utf8.count == 40 else {
            throw RedisError(
                .protocolViolation,
                "SCRIPT LOAD of \(script.name) gave \(reply); expected a SHA-1 in hexadecimal.")
        }
        script.sha = sha
        return sha
    }

    /// Sends many commands together and returns their replies in order.
    ///
    /// The throughput is that of the server: one task waits for all replies, instead of one task per command. The commands are
    /// not a transaction, and some may fail while others succeed. If the task is cancelled, the call still waits for the
    /// replies, within the commands' deadline.
    ///
    /// - Parameter commands: At most ``RedisConfiguration/pendingCommandsMax`` minus the number of pending commands.
    public func sendAll(
        _ commands: [[RedisArgument]], timeout: Duration? = nil
    ) async -> [Result<RedisReply, RedisError>] {
        if commands.isEmpty { return [] }
        return await withCheckedContinuation { continuation in
            let burst = RedisBurst(count: commands.count, continuation)
            for (index, command) in commands.enumerated() {
                do throws(RedisError) {
                    try CommandRules.check(command, configuration: configuration)
                    submit(command, timeout: timeout, waiter: .many(burst, index: index))
                } catch {
                    burst.settle(index, .failure(error))
                }
            }
        }
    }
}

/// The replies of commands that were sent together. Confined to the client's event loop.
final class RedisBurst {
    private var results: [Result<RedisReply, RedisError>?]
    private var open: Int
    private let continuation: CheckedContinuation<[Result<RedisReply, RedisError>], Never>

    init(
        count: Int, _ continuation: CheckedContinuation<[Result<RedisReply, RedisError>], Never>
    ) {
        results = Array(repeating: nil, count: count)
        open = count
        self.continuation = continuation
    }

    func settle(_ index: Int, _ result: Result<RedisReply, RedisError>) {
        results[index] = result
        open -= 1
        if open == 0 { continuation.resume(returning: results.compactMap { $0 }) }
    }
}

/// The rules for commands on a connection that several callers share.
enum CommandRules {
    /// Commands whose reply is not a single one, or which change the connection for other callers (login, database, protocol,
    /// transaction).
    private static let unshareable: Set<String> = [
        "SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE", "UNSUBSCRIBE", "PUNSUBSCRIBE", "SUNSUBSCRIBE",
        "MONITOR", "SYNC", "PSYNC", "HELLO", "RESET", "QUIT", "AUTH", "SELECT", "MULTI", "EXEC",
        "DISCARD", "WATCH", "UNWATCH",
    ]

    /// The length of the longest entry of ``unshareable``, so that longer names need no check.
    private static let unshareableBytesMax = 12

    /// Commands for which the server itself may wait. Of the reads of streams, those without `BLOCK` are `XRANGE` here.
    private static let blocking: Set<String> = [
        "BLMOVE", "BLMPOP", "BLPOP", "BRPOP", "BRPOPLPUSH", "BZMPOP", "BZPOPMAX", "BZPOPMIN",
        "WAIT", "WAITAOF", "XREAD", "XREADGROUP",
    ]

    /// Returns whether the server may hold back the reply to a command, and to all that follow on its connection.
    static func mayBlock(_ name: RedisArgument) -> Bool {
        blocking.contains(name.text.uppercased())
    }

    static func check(
        _ arguments: [RedisArgument], configuration: RedisConfiguration
    ) throws(RedisError) {
        guard let name = arguments.first, name.bytesMax > 0 else {
            throw RedisError(
                .invalidCommand, "A Redis command has at least a name; this one has none.")
        }
        let bytes = arguments.reduce(0) { $0 + $1.bytesMax }
        guard bytes <= configuration.commandBytesMax else {
            throw RedisError(
                .invalidCommand,
                "\(name.text) has \(bytes) bytes of arguments; at most "
                    + "\(configuration.commandBytesMax) are allowed. Keep large data in files.")
        }
        guard name.bytesMax <= unshareableBytesMax else { return }
        let command = name.text.uppercased()
        guard !unshareable.contains(command),
            command != "CLIENT" || arguments.dropFirst().first?.text.uppercased() != "REPLY"
        else {
            throw RedisError(
                .invalidCommand,
                "\(command) cannot be used on a connection that many callers share: set login and "
                    + "database in the URL, and use a script instead of a transaction.")
        }
    }
}
