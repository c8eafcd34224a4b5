import AccessKeys
import Hummingbird
import NIOCore

/// Asks again, while calls last, whether their keys are still accepted.
///
/// A call that outlives its key ends within a second, whatever it does: sends a body, reads a download or a stream, waits. One that sends
/// a body is answered with the reason at its next part; every other connection is closed.
struct CallRights: Sendable {
    /// A call is broken off when its key was refused twice.
    static let interval: Duration = .milliseconds(250)

    let keys: KeyRing
    let connections: OpenConnections

    /// Asks until the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            connections.breakOff { keys.refusal(of: $0) != nil }
            do { try await Task.sleep(for: Self.interval) } catch { return }
        }
    }
}

/// A body of which no part is read after its key is refused.
struct RightfulBody: AsyncSequence, Sendable {
    let body: RequestBody
    let keys: KeyRing
    let keyID: String

    struct AsyncIterator: AsyncIteratorProtocol {
        var base: RequestBody.AsyncIterator
        let keys: KeyRing
        let keyID: String

        @concurrent mutating func next() async throws -> ByteBuffer? {
            let part = try await base.next()
            if let refusal = keys.refusal(of: keyID) { throw refusal }
            return part
        }
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(base: body.makeAsyncIterator(), keys: keys, keyID: keyID)
    }
}
