import NIOCore
import NIOPosix
import NIOSSL

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
