import NIOCore
import Synchronization

/// The open connections of a status port, limited in number: a new connection beyond the limit replaces the oldest one without a
/// request.
///
/// So a probe is answered however many connections other clients hold open: it fails only if its connection becomes the oldest
/// of all before its request arrives.
final class ConnectionTable: Sendable {
    private struct Connection {
        let number: Int
        let channel: any Channel
        var hasAsked = false
    }

    private struct State {
        var last = 0
        /// The connections in the order of their arrival.
        var open: [Connection] = []
    }

    private let max: Int
    private let state = Mutex(State())

    init(max: Int) { self.max = max }

    /// Adds a connection.
    ///
    /// - Returns: Its number, and the connection to close for it. If every connection has sent a request, that is the oldest of
    ///   all, whose peer most likely does not read its response.
    func enter(_ channel: any Channel) -> (number: Int, leaving: (any Channel)?) {
        state.withLock { state in
            state.last += 1
            var leaving: (any Channel)?
            if state.open.count >= max {
                let index = state.open.firstIndex { !$0.hasAsked } ?? 0
                leaving = state.open.remove(at: index).channel
            }
            state.open.append(Connection(number: state.last, channel: channel))
            return (state.last, leaving)
        }
    }

    /// Records that a complete request has arrived on a connection.
    func asked(_ number: Int) {
        state.withLock { state in
            guard let index = state.open.firstIndex(where: { $0.number == number }) else { return }
            state.open[index].hasAsked = true
        }
    }

    /// Removes a connection that has closed.
    func leave(_ number: Int) {
        state.withLock { state in state.open.removeAll { $0.number == number } }
    }

    /// The number of open connections.
    var count: Int { state.withLock { $0.open.count } }
}
