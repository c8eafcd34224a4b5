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
/// A deadline or a cancellation after the writing ends the connection for all calls on it, because RESP does not number its
/// replies. So a blocking read (`XREAD BLOCK`) needs a client of its own, and a timeout longer than its block.
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

    /// Creates a client that has not connected yet.
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
