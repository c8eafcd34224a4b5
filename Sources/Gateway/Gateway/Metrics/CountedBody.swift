import Hummingbird
import NIOCore

/// A request's body that counts its bytes as they are read.
struct CountedBody: AsyncSequence, Sendable {
    let body: RequestBody
    let metrics: GatewayMetrics

    struct AsyncIterator: AsyncIteratorProtocol {
        var base: RequestBody.AsyncIterator
        let metrics: GatewayMetrics

        @concurrent mutating func next() async throws -> ByteBuffer? {
            let part: ByteBuffer?
            do {
                part = try await base.next()
            } catch  where !(error is CancellationError) {
                // An error of the connection is the client's doing, and no fault of the gateway.
                metrics.breaks()
                throw BodyRefusal.broken("\(error)")
            }
            if let part { metrics.receives(part.readableBytes) }
            return part
        }
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(base: body.makeAsyncIterator(), metrics: metrics)
    }
}
