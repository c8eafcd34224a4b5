public import Logging
import NIOCore
import NIOPosix

/// A Redis client with one connection that all its callers share.
///
/// Calls made at the same time travel together (they are pipelined). The first call connects; a
/// lost connection is made again after a wait with full jitter, and meanwhile calls wait for it up
/// to their deadlines. A call that was written on a connection which then ended is never repeated
/// by the client: its error says ``RedisError/mayHaveExecuted``. Where the URL names sentinels or a
/// cluster, a call that the wrong server refused goes to the right one; all keys of one client's
/// calls have to be in one slot, else it would go back and forth.
///
/// A deadline or a cancellation after the writing ends the connection for all calls on it, because
/// RESP does not number its replies. So a blocking read (`XREAD BLOCK`) wants a client of its own,
/// and a timeout longer than its block.
///
/// The actor runs on its event loop's thread, and another actor may run there too: it returns this
/// client's ``unownedExecutor`` as its own, and holds the client for as long as it lives.
public actor RedisClient {
    /// Which thread a client runs on.
    public enum Thread: Sendable {
        /// One that nothing else uses; it ends when the last reference to the client goes.
        case own
        /// One of the process's event loops.
        case shared
    }

    let configuration: RedisConfiguration
    nonisolated let eventLoop: any EventLoop
    private let ownGroup: MultiThreadedEventLoopGroup?
    private let loopBoundLink: NIOLoopBoundBox<RedisLink>
    private var nextID: UInt64 = 0

    /// A client that has not connected yet.
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

    /// Ends the connection of a client nobody closed, and the thread of one that had its own.
    ///
    /// The thread ends here and not in ``close()``: a call that came after it would wait for ever
    /// for a thread that is gone, and so would any actor that shares the executor.
    deinit {
        // Not an `isolated deinit`: with one, Swift 6.3.1 stops at "circular reference" when it
        // optimizes a module that makes a client.
        eventLoop.execute { [loopBoundLink] in loopBoundLink.value.close() }
        ownGroup?.shutdownGracefully { _ in
            // Fails only for a group that was shut down before, and this is the only place.
        }
    }

    private var link: RedisLink { loopBoundLink.value }

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
                // The handler below may have run before there was anything to cancel.
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

    /// Whether nobody has called yet.
    var isIdle: Bool { link.state.phase == .idle }

    /// How many commands are written and wait for their replies.
    var writtenCount: Int { link.state.written.count }

    /// Ends the connection and all calls; those to come fail with ``RedisError/Code/closed``.
    ///
    /// Returns when the socket is closed. A second call does nothing.
    public func close() async {
        let closed = link.handler?.closed
        link.close()
        // A channel that closes with an error is closed all the same.
        try? await closed?.get()
    }
}
