import AccessKeys
import DequeModule
import Edits
import NIOCore
import Synchronization

/// The open connections of the gateway, limited in number: none of the clients can use up what all need.
///
/// A new connection beyond the limit replaces one that answers no call with a key: of the address with the most such connections,
/// the oldest without a request, otherwise the one that is idle for longest. So `/healthz` is answered however many connections
/// others hold. Calls with a key are shared by tenants (``FairShare``), so they never hold all connections, and a call that was
/// accepted is not broken off. A call counts until it has ended, also when its client has left before. Rejected: leaving further
/// connections in the kernel's queue until one of the others is idle for 60 s.
package final class OpenConnections: Sendable {
    private struct Connection {
        let channel: any Channel
        let address: String
        /// The place in the order of arrivals and requests.
        var number: Int
        var hasAsked = false
        /// The owner of the call that is answered; nil between calls, and for calls without a key.
        var owner: FairShare.Owner?
        /// The id of the key of this call.
        var keyID: String?
        /// Whether the key was refused when the rights of calls were last asked.
        var isRefused = false
        /// Given when the connection ends while its call waits for that.
        var end: FirstAnswer<Void>?
    }

    /// The connections of one address that answer no call with a key, in the order in which they leave for newer ones. A place is
    /// out of date when its connection has another number, or a call.
    ///
    /// Found by walking all connections, the one that leaves cost each arrival some 0.2 ms under the lock that every request takes.
    private struct Free {
        struct Place {
            let id: ObjectIdentifier
            let number: Int
        }

        /// The places that may be out of date before all are looked at.
        private static let spare = 64

        var count = 0
        /// Those that have sent no request.
        private var silent: Deque<Place> = []
        private var idle: Deque<Place> = []

        mutating func add(
            _ id: ObjectIdentifier, _ connection: Connection, where isThere: (Place) -> Bool
        ) {
            let place = Place(id: id, number: connection.number)
            if connection.hasAsked { idle.append(place) } else { silent.append(place) }
            if silent.count > 2 * count + Self.spare { silent.removeAll { !isThere($0) } }
            if idle.count > 2 * count + Self.spare { idle.removeAll { !isThere($0) } }
        }

        mutating func next(where isThere: (Place) -> Bool) -> ObjectIdentifier? {
            while let place = silent.popFirst() ?? idle.popFirst() {
                if isThere(place) { return place.id }
            }
            return nil
        }
    }

    private struct State {
        var open: [ObjectIdentifier: Connection] = [:]
        /// The connections without a call, by address.
        var free: [String: Free] = [:]
        var calls: FairShare
        /// The owners of the calls that go on although their connections have ended.
        var left: [ObjectIdentifier: FairShare.Owner] = [:]
        var last = 0
        var replaced = 0
        var refused = 0

        mutating func next() -> Int {
            last += 1
            return last
        }

        /// Counts a connection as one without a call, or as one that is such no more.
        mutating func count(_ address: String, _ change: Int) {
            free[address, default: Free()].count += change
            if free[address]?.count == 0 { free[address] = nil }
        }

        /// Keeps a connection, which has a new number, and its place among those of its address.
        mutating func keep(_ connection: Connection, as id: ObjectIdentifier) {
            open[id] = connection
            guard connection.owner == nil else { return }
            free[connection.address]?.add(id, connection) { [open] in Self.isThere($0, in: open) }
        }

        /// Returns the connection that leaves first of an address.
        mutating func next(of address: String) -> ObjectIdentifier? {
            free[address]?.next { [open] in Self.isThere($0, in: open) }
        }

        private static func isThere(
            _ place: Free.Place, in open: [ObjectIdentifier: Connection]
        ) -> Bool {
            open[place.id].map { $0.number == place.number && $0.owner == nil } ?? false
        }
    }

    private let max: Int
    private let state: Mutex<State>

    /// - Parameter max: The most connections; a sixteenth of them is for operators.
    package init(max: Int) {
        self.max = max
        state = Mutex(State(calls: FairShare(.init(all: max, reserve: max / 16))))
    }

    package var count: Int { state.withLock { $0.open.count } }
    /// The number of calls with a key that are being answered.
    var callCount: Int { state.withLock { state in state.open.values.count { $0.keyID != nil } } }
    /// The number of connections that were closed for newer ones.
    package var replacedCount: Int { state.withLock { $0.replaced } }
    /// The number of calls that were refused because their tenant has its share.
    package var refusedCount: Int { state.withLock { $0.refused } }

    func enter(_ channel: any Channel) {
        let leaving = state.withLock { state -> (any Channel)? in
            let leaving = state.open.count >= max ? replace(&state) ?? channel : nil
            if leaving === channel { return channel }
            let address = Self.address(channel.remoteAddress)
            let connection = Connection(channel: channel, address: address, number: state.next())
            state.count(address, 1)
            state.keep(connection, as: ObjectIdentifier(channel))
            return leaving
        }
        leaving?.close(promise: nil)
        channel.closeFuture.whenComplete { [self] _ in leave(channel) }
    }

    func asked(_ channel: any Channel) {
        state.withLock { state in
            guard var connection = state.open[ObjectIdentifier(channel)] else { return }
            (connection.hasAsked, connection.number) = (true, state.next())
            state.keep(connection, as: ObjectIdentifier(channel))
        }
    }

    /// Counts the call that a connection brought to the owner of its key.
    ///
    /// - Returns: Whether the owner may have one more call at a time.
    func begin(_ channel: any Channel, _ owner: FairShare.Owner, keyID: String) -> Bool {
        state.withLock { state in
            let id = ObjectIdentifier(channel)
            if state.open[id]?.owner != nil { return true }
            guard state.calls.take(owner) else {
                state.refused += 1
                return false
            }
            guard var connection = state.open[id] else {
                state.left[id] = owner
                return true
            }
            (connection.owner, connection.keyID) = (owner, keyID)
            state.keep(connection, as: id)
            state.count(connection.address, -1)
            return true
        }
    }

    func answered(_ channel: any Channel) {
        state.withLock { state in
            if let owner = state.left.removeValue(forKey: ObjectIdentifier(channel)) {
                state.calls.giveBack(owner)
            }
            guard var connection = state.open[ObjectIdentifier(channel)] else { return }
            connection.number = state.next()
            if let owner = connection.owner {
                state.calls.giveBack(owner)
                state.count(connection.address, 1)
                connection.owner = nil
            }
            (connection.keyID, connection.isRefused, connection.end) = (nil, false, nil)
            state.keep(connection, as: ObjectIdentifier(channel))
        }
    }

    /// Waits until the connection of a call has ended. Of each connection, one task may wait.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before.
    func waitForEnd(of channel: any Channel) async throws {
        let end = FirstAnswer<Void>()
        let isOpen = state.withLock { state in
            state.open[ObjectIdentifier(channel)]?.end = end
            return state.open[ObjectIdentifier(channel)] != nil
        }
        if isOpen { try await end.value }
    }

    /// Breaks off the calls whose keys are refused now, and were when this was called before: in between, a body can still be answered
    /// with the reason.
    func breakOff(where isRefused: (_ keyID: String) -> Bool) {
        let calls = state.withLock { state in
            state.open.compactMap { id, connection in connection.keyID.map { (id, $0) } }
        }
        let refused = calls.filter { isRefused($0.1) }
        guard !refused.isEmpty else { return }
        let leaving = state.withLock { state in
            refused.compactMap { id, keyID -> (any Channel)? in
                // The connection may have brought another call meanwhile.
                guard var connection = state.open[id], connection.keyID == keyID else { return nil }
                guard !connection.isRefused else { return connection.channel }
                connection.isRefused = true
                state.open[id] = connection
                return nil
            }
        }
        for channel in leaving { channel.close(promise: nil) }
    }

    /// Breaks off all calls.
    func closeAll() {
        for channel in state.withLock({ $0.open.values.map(\.channel) }) {
            channel.close(promise: nil)
        }
    }

    private func leave(_ channel: any Channel) {
        state.withLock { Self.remove(ObjectIdentifier(channel), &$0) }
    }

    private static func remove(_ id: ObjectIdentifier, _ state: inout State) {
        guard let connection = state.open.removeValue(forKey: id) else { return }
        connection.end?.give(.success(()))
        if let owner = connection.owner {
            state.left[id] = owner
        } else {
            state.count(connection.address, -1)
        }
    }

    /// Removes the connection that a new one replaces.
    ///
    /// - Returns: nil if every connection answers a call with a key.
    private func replace(_ state: inout State) -> (any Channel)? {
        guard let busiest = state.free.max(by: { $0.value.count < $1.value.count })?.key,
            let id = state.next(of: busiest), let leaving = state.open[id]?.channel
        else { return nil }
        Self.remove(id, &state)
        state.replaced += 1
        return leaving
    }

    /// Returns the client's address; of IPv6 the first half, because a client has as many addresses of the other half as it wants. A
    /// client with an IPv4 address has one, also where it reaches a port of IPv6 (`::ffff:192.0.2.1`).
    static func address(_ address: SocketAddress?) -> String {
        guard case .v6(let inside)? = address else { return address?.ipAddress ?? "" }
        // In `sockaddr_in6`, the address follows family, port and flow.
        return withUnsafeBytes(of: inside.address) { bytes in
            let isMapped =
                bytes[8..<18].allSatisfy { $0 == 0 } && bytes[18..<20].allSatisfy { $0 == 255 }
            if isMapped { return bytes[20..<24].map { "\($0)" }.joined(separator: ".") }
            return bytes[8..<16].map { String($0, radix: 16) }.joined(separator: ":")
        }
    }
}
