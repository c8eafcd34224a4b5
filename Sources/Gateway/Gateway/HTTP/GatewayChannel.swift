package import Hummingbird
package import HummingbirdCore
package import Logging
package import NIOCore
import NIOHTTP1

/// A connection of the gateway: Hummingbird's channel for HTTP/1.1, with the gateway's handlers behind its parser.
package struct GatewayChannel: ServerChildChannel {
    package typealias Value = HTTP1Channel.Value

    private let base: HTTP1Channel
    private let limits: BorderLimits
    private let connections: OpenConnections

    package init(
        responder: @escaping HTTPChannelHandler.Responder, limits: BorderLimits,
        connections: OpenConnections
    ) {
        self.limits = limits
        self.connections = connections
        base = HTTP1Channel(
            responder: { request, writer, channel in
                connections.asked(channel)
                defer { connections.answered(channel) }
                try await responder(request.asking(channel), writer, channel)
            },
            configuration: HTTP1Channel.Configuration(
                httpDecoderConfiguration: HTTP1Channel.Configuration.DecoderConfiguration(
                    maxHeaderFieldSize: limits.headerBytesMax,
                    maxHeaderListSize: limits.headerBytesMax + limits.targetBytesMax,
                    maxHeaderFieldCount: limits.headerFieldsMax)))
    }

    package func setup(
        channel: any Channel, logger: Logger
    ) -> EventLoopFuture<Value> {
        connections.enter(channel)
        do {
            try bound(channel)
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
        return base.setup(channel: channel, logger: logger).flatMapThrowing { [limits] value in
            let pipeline = channel.pipeline.syncOperations
            let parser = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            try pipeline.addHandlers(
                [DeadlineHandler(limits), RequestGuard(limits)], position: .after(parser))
            return value
        }
    }

    /// Bounds what is read of a connection at a time. Without that, a body has some 2 MB that nobody has asked for.
    private func bound(_ channel: any Channel) throws {
        let options = channel.syncOptions
        try options?.setOption(ChannelOptions.maxMessagesPerRead, value: 1)
        try options?.setOption(
            ChannelOptions.recvAllocator,
            value: AdaptiveRecvByteBufferAllocator(
                minimum: 1 << 10, initial: 2 << 10, maximum: limits.readBytesMax))
    }

    package func handle(value: Value, logger: Logger) async {
        await base.handle(value: value, logger: logger)
    }
}

extension HTTPServerBuilder {
    /// Returns a server for untrusted clients, by HTTP/1.1 without TLS.
    package static func border(
        _ limits: BorderLimits = BorderLimits(), _ connections: OpenConnections
    ) -> HTTPServerBuilder {
        HTTPServerBuilder { responder in
            GatewayChannel(responder: responder, limits: limits, connections: connections)
        }
    }
}

extension ApplicationConfiguration {
    /// The connections that are accepted beyond the limit while those that they replace are being closed.
    private static let closingMax = 64

    /// Returns the configuration of a server that accepts no more connections than the limits allow.
    package static func border(
        _ address: BindAddress, _ limits: BorderLimits = BorderLimits(), logger: Logger
    ) -> ApplicationConfiguration {
        ApplicationConfiguration(
            address: address,
            availableConnectionsDelegate: MaximumAvailableConnections(
                limits.connectionsMax + closingMax, logger: logger))
    }
}

extension Request {
    /// Returns the request with a body that sends 100 Continue on its first read, if the client expects it (`Expect:
    /// 100-continue`).
    fileprivate func asking(_ channel: any Channel) -> Request {
        var request = self
        request.body = RequestBody(asyncSequence: AskedBody(body: body, channel: channel))
        return request
    }
}

/// A body that is read, and for which 100 Continue is sent, when it is asked for.
private struct AskedBody: AsyncSequence, Sendable {
    let body: RequestBody
    let channel: any Channel

    struct AsyncIterator: AsyncIteratorProtocol {
        var base: RequestBody.AsyncIterator
        let channel: any Channel
        var isAsked = false

        @concurrent mutating func next() async throws -> ByteBuffer? {
            if !isAsked {
                isAsked = true
                try await channel.triggerUserOutboundEvent(RequestGuard.ContinueRequest())
            }
            return try await base.next()
        }
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(base: body.makeAsyncIterator(), channel: channel)
    }
}
