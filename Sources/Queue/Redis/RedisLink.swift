import Logging
import NIOCore
import NIOPosix
import NIOSSL

/// The connection of one client to its server: carries out the decisions of ``ConnectionState``.
///
/// Confined to its event loop: the client's actor, the channel's handler and the timer all run there, so no state needs a lock.
final class RedisLink {
    /// The receiver of a reply: a single call, or a call that sent many commands.
    enum Waiter {
        case one(CheckedContinuation<Result<RedisReply, RedisError>, Never>)
        case many(RedisBurst, index: Int)

        func resume(returning result: Result<RedisReply, RedisError>) {
            switch self {
            case .one(let continuation): continuation.resume(returning: result)
            case .many(let burst, let index): burst.settle(index, result)
            }
        }
    }

    /// The approximate size of the pieces in which commands are passed to the channel. After each piece the link checks whether the
    /// channel accepts more.
    private static let writeBytes = 64 << 10

    /// The maximum timeout of a command; longer ones are reduced to it.
    private static let timeoutMax = Duration.seconds(24 * 60 * 60)

    let configuration: RedisConfiguration
    let eventLoop: any EventLoop
    let logger: Logger
    var state: ConnectionState<Waiter>
    /// The present connection; nil without one.
    var handler: RedisChannelHandler?
    /// The number of the present attempt; the results of earlier ones are ignored.
    var attempt = 0
    var encoder = RESPEncoder()
    private var outgoing = ByteBuffer()
    private var isFlushScheduled = false
    private var timer: (deadline: NIODeadline, task: Scheduled<Void>)?

    init(_ configuration: RedisConfiguration, on eventLoop: any EventLoop, logger: Logger) {
        self.configuration = configuration
        self.eventLoop = eventLoop
        self.logger = logger
        state = ConnectionState(configuration)
    }

    // MARK: From the client

    func submit(
        id: UInt64, _ command: [RedisArgument], timeout: Duration?, waiter: Waiter
    ) {
        let timeout = min(timeout ?? configuration.commandTimeout, Self.timeoutMax)
        perform(
            state.submit(id: id, command, timeout: timeout, waiter: waiter, now: .now()))
    }

    func cancel(id: UInt64) {
        perform(state.cancel(id: id, now: .now(), random: .random(in: 0..<1)))
    }

    func close() {
        perform(state.close())
    }

    // MARK: From the channel

    func received(_ reply: RedisReply, on handler: RedisChannelHandler) {
        guard handler === self.handler else { return }
        switch state.received(reply) {
        case .settles(let settlement): settlement.waiter.resume(returning: settlement.result)
        case .passes, .postpones, .continuesLogin: break
        case .completesLogin:
            logger.debug("Connected to Redis.", metadata: ["redis.address": "\(location)"])
            flush()
        case .ends(let failure, let settlement):
            if let settlement { settlement.waiter.resume(returning: settlement.result) }
            ended(handler, failure)
        }
    }

    func ended(_ handler: RedisChannelHandler, _ failure: LinkFailure) {
        guard handler === self.handler else { return }
        failed(failure)
    }

    /// Reports to the state that the attempt or the connection has ended.
    func failed(_ failure: LinkFailure) {
        logger.debug(
            "The connection to Redis ended.",
            metadata: [
                "redis.address": "\(location)", "redis.reason": "\(failure.reason)",
            ])
        perform(state.lost(failure, now: .now(), random: .random(in: 0..<1)))
    }

    /// Writes the waiting commands, as far as the channel accepts them.
    func flush() {
        isFlushScheduled = false
        guard let handler else { return }
        while handler.isWritable, let command = state.writeNext() {
            encoder.encode(command, into: &outgoing)
            if outgoing.readableBytes >= Self.writeBytes { hand(to: handler) }
        }
        if outgoing.readableBytes > 0 { hand(to: handler) }
        // The flush comes last, because it can end the connection.
        handler.flush()
    }

    private func hand(to handler: RedisChannelHandler) {
        handler.write(outgoing)
        // The memory is reused after the channel has released it; the memory of a large command is not kept.
        if outgoing.capacity > 2 * Self.writeBytes {
            outgoing = ByteBuffer()
        } else {
            outgoing.clear()
        }
    }

    // MARK: Effects

    private func perform(_ effects: ConnectionState<Waiter>.Effects) {
        switch effects.step {
        case .nothing: break
        case .connect: connect()
        case .flush: scheduleFlush()
        case .disconnect: disconnect()
        case .reconnect:
            disconnect()
            connect()
        }
        // Resuming only enqueues the task, so no task runs before this method returns.
        for settlement in effects.settlements {
            settlement.waiter.resume(returning: settlement.result)
        }
        armTimer()
    }

    private func disconnect() {
        handler?.disconnect()
        handler = nil
    }

    /// The server of the present connection, for logs.
    private var location: String { state.route.stop.address.location }

    /// Schedules one flush for all commands that arrive in the present tick of the event loop.
    private func scheduleFlush() {
        guard !isFlushScheduled else { return }
        isFlushScheduled = true
        eventLoop.assumeIsolated().execute { self.flush() }
    }

    /// Keeps one timer, for the earliest event that is due.
    ///
    /// A command that has ended leaves its timer behind. The timer fires once without effect, which costs less than cancelling one
    /// timer per command.
    private func armTimer() {
        let deadline = state.nextWake
        if let timer {
            guard deadline < timer.deadline || deadline == .distantFuture else { return }
            timer.task.cancel()
        }
        timer = nil
        guard deadline < .distantFuture else { return }
        let task = eventLoop.assumeIsolated().scheduleTask(deadline: deadline) {
            self.timer = nil
            self.perform(self.state.wake(now: .now(), random: .random(in: 0..<1)))
        }
        timer = (deadline, task)
    }
}

extension RedisLink {
    /// Starts one attempt and reports its result to the state.
    func connect() {
        attempt += 1
        let number = attempt
        openChannel().assumeIsolated().whenComplete { result in
            switch result {
            case .success(let channel): self.adopt(channel, ofAttempt: number)
            case .failure(let error):
                if number == self.attempt { self.failed(LinkFailure(transport: error)) }
            }
        }
    }

    private func adopt(_ channel: any Channel, ofAttempt number: Int) {
        guard number == attempt, state.connected() else {
            channel.close(promise: nil)
            return
        }
        do {
            let handler = try channel.pipeline.syncOperations.handler(
                type: RedisChannelHandler.self)
            self.handler = handler
            var login = ByteBuffer()
            for step in state.loginSteps { encoder.encode(step.arguments, into: &login) }
            handler.write(login)
            handler.attach(to: self)
            handler.flush()
        } catch {
            // The handler is gone because the channel has closed again.
            channel.close(promise: nil)
            failed(LinkFailure(transport: error))
        }
    }

    private func openChannel() -> EventLoopFuture<any Channel> {
        let configuration = self.configuration
        let address = state.route.stop.address
        let eventLoop = self.eventLoop
        guard configuration.url.usesTLS else {
            return Self.openChannel(to: address, configuration, tls: nil, on: eventLoop)
        }
        // This reads files and parses the system's authorities, which would block the event loop.
        return NIOThreadPool.singleton.runIfActive(eventLoop: eventLoop) {
            do throws(RedisError) {
                return try configuration.tlsContext()
            } catch {
                throw LinkFailure(error, consequence: .refusal)
            }
        }.flatMap { Self.openChannel(to: address, configuration, tls: $0, on: eventLoop) }
    }

    private static func openChannel(
        to address: RedisURL.Address, _ configuration: RedisConfiguration, tls: NIOSSLContext?,
        on eventLoop: any EventLoop
    ) -> EventLoopFuture<any Channel> {
        let bootstrap = ClientBootstrap(group: eventLoop)
            .connectTimeout(TimeAmount(configuration.connectTimeout))
            .channelOption(.socketOption(.so_keepalive), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let tls {
                        try pipeline.addHandler(
                            NIOSSLClientHandler(
                                context: tls, serverHostname: address.tlsHostname))
                    }
                    try pipeline.addHandler(
                        RedisChannelHandler(replyBytesMax: configuration.replyBytesMax))
                }
            }
        return switch address {
        case .tcp(let host, let port):
            // An IP address needs no look-up, and so no thread of the look-up pool.
            if let socketAddress = address.socketAddress {
                bootstrap.connect(to: socketAddress)
            } else {
                bootstrap.connect(host: host, port: port)
            }
        case .unixSocket(let path): bootstrap.connect(unixDomainSocketPath: path)
        }
    }
}

/// The codec at the end of a channel's pipeline: it decodes bytes into replies for its link, and passes bytes of commands on.
///
/// Confined to its event loop, like all handlers.
final class RedisChannelHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The link that uses this connection; nil before it is attached and after it drops the connection.
    private var link: RedisLink?
    private var decoder: RESPDecoder
    private var context: ChannelHandlerContext?
    /// The failure that ended the connection before a link was attached.
    private var earlyFailure: LinkFailure?

    init(replyBytesMax: Int) {
        decoder = RESPDecoder(replyBytesMax: replyBytesMax)
    }

    /// Whether the channel accepts more bytes without buffering them.
    var isWritable: Bool { context?.channel.isWritable ?? false }

    /// Completes when the channel has closed; nil afterwards.
    var closed: EventLoopFuture<Void>? { context?.channel.closeFuture }

    /// Reports all events of the channel to `link`.
    func attach(to link: RedisLink) {
        self.link = link
        if let earlyFailure { link.ended(self, earlyFailure) }
    }

    /// Closes the channel and reports no further events.
    func disconnect() {
        link = nil
        context?.close(promise: nil)
    }

    func write(_ bytes: ByteBuffer) {
        context?.write(wrapOutboundOut(bytes), promise: nil)
    }

    func flush() {
        context?.flush()
    }

    // MARK: ChannelInboundHandler

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        do throws(RedisError) {
            try unwrapInboundIn(data).withUnsafeReadableBytes { bytes throws(RedisError) in
                try decoder.feed(bytes)
            }
            // A reply can make the link drop this connection; the remaining replies are then discarded.
            while let link, let reply = try decoder.next() {
                link.received(reply, on: self)
            }
        } catch {
            report(LinkFailure(error, consequence: .passing))
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if isWritable { link?.flush() }
        context.fireChannelWritabilityChanged()
    }

    func channelInactive(context: ChannelHandlerContext) {
        report(.passing("the server closed the connection"))
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        report(LinkFailure(transport: error))
        context.close(promise: nil)
    }

    private func report(_ failure: LinkFailure) {
        if let link {
            link.ended(self, failure)
        } else if earlyFailure == nil {
            earlyFailure = failure
        }
    }
}
