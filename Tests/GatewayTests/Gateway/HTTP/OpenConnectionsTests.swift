import AccessKeys
import NIOCore
import NIOEmbedded
import Testing

@testable import Gateway

@Suite("Which connection leaves for a newer one") struct OpenConnectionsTests {
    private static func channel(_ address: String = "192.0.2.1") throws -> EmbeddedChannel {
        let channel = EmbeddedChannel()
        try channel.connect(to: SocketAddress(ipAddress: address, port: 1)).wait()
        return channel
    }

    private static func ask(_ channel: EmbeddedChannel, of connections: OpenConnections) {
        connections.asked(channel)
        connections.answered(channel)
    }

    @Test func `the oldest that sent nothing goes first, then the one that is idle for longest`()
        throws
    {
        let connections = OpenConnections(max: 4)
        let open = try (0..<4).map { _ in try Self.channel() }
        for channel in open { connections.enter(channel) }
        // More requests than places are remembered of.
        for _ in 0..<500 { Self.ask(open[0], of: connections) }
        for _ in 0..<500 { Self.ask(open[2], of: connections) }
        var left: [Int] = []
        for _ in 0..<4 {
            let newer = try Self.channel()
            connections.enter(newer)
            // It asks at once, so that it is idle for the shortest time.
            Self.ask(newer, of: connections)
            left += open.indices.filter { !open[$0].isActive && !left.contains($0) }
        }
        #expect(left == [1, 3, 0, 2])
        #expect(connections.count == 4 && connections.replacedCount == 4)
    }

    @Test func `one that closes by itself, or has a call, does not leave`() throws {
        let connections = OpenConnections(max: 3)
        let open = try (0..<3).map { _ in try Self.channel() }
        for channel in open { connections.enter(channel) }
        connections.asked(open[0])
        #expect(connections.begin(open[0], .operator, keyID: "a"))
        open[1].close(promise: nil)
        open[1].embeddedEventLoop.run()
        #expect(connections.count == 2)
        let newer = try (0..<2).map { _ in try Self.channel() }
        for channel in newer { connections.enter(channel) }
        #expect(open[0].isActive && !open[2].isActive)
        // Its call is over, and it asked before all others came.
        connections.answered(open[0])
        for channel in newer { Self.ask(channel, of: connections) }
        connections.enter(try Self.channel())
        #expect(!open[0].isActive && newer.allSatisfy(\.isActive))
    }

    @Test func `a call counts until it has ended, also when its client has left before`() throws {
        let connections = OpenConnections(max: 4)
        let open = try (0..<3).map { _ in try Self.channel() }
        for channel in open { connections.enter(channel) }
        func begin(_ channel: EmbeddedChannel) -> Bool {
            connections.begin(channel, .tenant("acme"), keyID: "a")
        }
        // Alone a tenant has a half.
        #expect(begin(open[0]) && begin(open[1]))
        for channel in open[..<2] {
            channel.close(promise: nil)
            channel.embeddedEventLoop.run()
        }
        #expect(connections.count == 1 && !begin(open[2]))
        connections.answered(open[0])
        #expect(begin(open[2]))
        // One whose client left before its key was known counts, too.
        connections.answered(open[1])
        #expect(begin(open[0]))
        let newer = try Self.channel()
        connections.enter(newer)
        #expect(!begin(newer))
        connections.answered(open[0])
        #expect(begin(newer))
    }

    @Test func `the address with most of them gives one`() throws {
        let connections = OpenConnections(max: 5)
        let few = try (0..<2).map { _ in try Self.channel("192.0.2.7") }
        let many = try (0..<3).map { _ in try Self.channel() }
        for channel in few + many { connections.enter(channel) }
        connections.enter(try Self.channel("192.0.2.9"))
        #expect(few.allSatisfy { $0.isActive })
        #expect(many.map(\.isActive) == [false, true, true])
    }
}
