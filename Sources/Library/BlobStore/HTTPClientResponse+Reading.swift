import AsyncHTTPClient
import NIOCore

extension HTTPClientResponse {
    /// Passes on the pieces of the body as they arrive, and fails if they arrive more slowly than
    /// ``RateFloor``.
    func drain(
        _ receive: (ByteBuffer) async throws(AttemptFailure) -> Void
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
            try await receive(piece)
        }
    }

    /// Returns the body's bytes, at most `limit`.
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
            // The calls above throw nothing else.
            guard case .transport(let failure) = error else { preconditionFailure("\(error)") }
            throw failure
        }
        return bytes
    }
}
