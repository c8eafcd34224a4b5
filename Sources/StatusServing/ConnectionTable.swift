import NIOCore
import Synchronization

/// The open connections of a status port, at most so many: for a new one the oldest that asks nothing goes.
///
/// So a probe is answered however many connections others hold open: it would have to be the oldest of all before
/// its request arrives.
final class ConnectionTable: Sendable {
    private struct Connection {
        let number: Int
        let channel: any Channel
        var hasAsked = false
    }

    private struct State {
        var last = 0
        /// In the order in which they came.
        var open: [Connection] = []
    }

    private let max: Int
    private let state = Mutex(State())

    init(max: Int) { self.max = max }

    /// Takes a connection in.
    ///
    /// - Returns: its number, and the connection that has to go for it. Without one that is silent it is the oldest
    ///   of all, whose peer most likely does not read its answer.
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

    /// A whole request has arrived on a connection.
    func asked(_ number: Int) {
        state.withLock { state in
            guard let index = state.open.firstIndex(where: { $0.number == number }) else { return }
            state.open[index].hasAsked = true
        }
    }

    /// A connection has ended.
    func leave(_ number: Int) {
        state.withLock { state in state.open.removeAll { $0.number == number } }
    }

    /// How many there are.
    var count: Int { state.withLock { $0.open.count } }
}
