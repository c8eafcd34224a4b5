import AsyncHTTPClient
import NIOCore

extension HTTPClientResponse {
    /// Takes the pieces of the body as they come, unless they come slower than ``RateFloor``.
    func drain(
        _ take: (ByteBuffer) async throws(AttemptFailure) -> Void
    ) async throws(AttemptFailure) {
        var floor = RateFloor()
        var pieces = body.makeAsyncIterator()
        while true {
            let asked = ContinuousClock.now
            let piece: ByteBuffer?
            do { piece = try await pieces.next() } catch {
                throw .transport(TransportFailure(error))
            }
            guard let piece else { return }
            if floor.isBroken(byPieceOf: piece.readableBytes, after: ContinuousClock.now - asked) {
                throw .transport(TransportFailure(.silent, "less than 64 KiB a second"))
            }
            try await take(piece)
        }
    }

    /// The body's bytes, of which there may be `limit`.
    func bytes(atMost limit: Int) async throws(TransportFailure) -> [UInt8] {
        var bytes: [UInt8] = []
        do throws(AttemptFailure) {
            try await drain { piece throws(AttemptFailure) in
                guard bytes.count + piece.readableBytes <= limit else {
                    throw .transport(TransportFailure(.malformed, "more than \(limit) bytes"))
                }
                bytes.append(contentsOf: piece.readableBytesView)
            }
        } catch {
            // Nothing else is thrown above.
            guard case .transport(let failure) = error else { preconditionFailure("\(error)") }
            throw failure
        }
        return bytes
    }
}
