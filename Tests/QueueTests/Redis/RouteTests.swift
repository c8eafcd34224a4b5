import MinilabTesting
import Testing

@testable import Redis

/// The way to the right server, decided without a socket.
@Suite("Route") struct RouteTests {
    private static let cluster = "redis+cluster://n1,n2,n3"
    private static let sentinels = "redis+sentinel://w:pw@s1,s2,s3/photos"

    private static func error(_ text: String) -> RedisReply { .error(RedisServerError(text)) }

    private static func master(_ host: String, _ port: String) -> RedisReply {
        .array([.bulk(Array(host.utf8)), .bulk(Array(port.utf8))])
    }

    // MARK: Cluster

    @Test func `a command goes where MOVED says, at once`() {
        var fixture = ConnectionFixture(Self.cluster)
        fixture.submit("GET")
        fixture.logIn()
        #expect(fixture.write() == ["GET"])
        let failure = fixture.receive(Self.error("MOVED 866 n9:7001"))
        #expect(failure?.consequence == .redirection(.tcp(host: "n9", port: 7001)))
        #expect(fixture.lose(failure!) == .reconnect)
        #expect(fixture.stop == "n9:7001")
        fixture.logIn()
        #expect(fixture.write() == ["GET"])
        fixture.receive(.integer(1))
        #expect(fixture.reply(1) == .integer(1))
    }

    @Test(arguments: [
        ("MOVED 1 n2:7001", "n2:7001"), ("MOVED 1 :7001", "n1:7001"),
        ("MOVED 1 fe80::2:7001", "[fe80::2]:7001"), ("MOVED 1 ?:7001", nil),
        ("MOVED 1", nil), ("MOVED 1 n2:0", nil), ("MOVED 1 n2:x", nil), ("ASK 1 n2:7001", nil),
    ])
    func `the node that MOVED names is read`(message: String, location: String?) {
        let address = RedisServerError(message).movedAddress(from: .tcp(host: "n1", port: 6379))
        #expect(address?.location == location)
    }

    @Test func `nothing more is written while replies are due, and refused commands keep order`() {
        var fixture = ConnectionFixture.ready(Self.cluster)
        for name in ["A", "B", "C", "D"] as [RedisArgument] { fixture.submit(name) }
        #expect(fixture.write(3) == ["A", "B", "C"])
        #expect(fixture.receive(Self.error("MOVED 1 n9:7001")) == nil)
        #expect(fixture.submit("E") == .nothing)
        #expect(fixture.write().isEmpty)
        fixture.receive(.integer(2))  // A command without keys is executed anywhere.
        #expect(fixture.reply(3) == .integer(2))
        let failure = fixture.receive(Self.error("MOVED 1 n9:7001"))
        #expect(fixture.lose(failure!) == .reconnect)
        fixture.logIn()
        #expect(fixture.write() == ["A", "C", "D", "E"])
    }

    @Test func `the connection ends also when the last due reply is no refusal`() {
        var fixture = ConnectionFixture.ready(Self.cluster)
        for name in ["A", "B"] as [RedisArgument] { fixture.submit(name) }
        _ = fixture.write()
        #expect(fixture.receive(Self.error("MOVED 1 n9:7001")) == nil)
        #expect(
            fixture.receive(.integer(2))?.consequence == .redirection(.tcp(host: "n9", port: 7001)))
        #expect(fixture.reply(3) == .integer(2))
    }

    @Test(arguments: [
        "ASK 1 n2:7001", "TRYAGAIN Multiple keys", "CLUSTERDOWN The cluster is down",
        "LOADING Redis is loading", "MASTERDOWN Link with MASTER is down",
        "READONLY You can't write", "UNBLOCKED force unblock",
        "NOREPLICAS Not enough good replicas to write.",
    ])
    func `other refusals are repeated after a wait`(message: String) {
        var fixture = ConnectionFixture.ready(Self.cluster)
        fixture.submit("A")
        _ = fixture.write()
        let failure = fixture.receive(Self.error(message))
        #expect(fixture.lose(failure!) == .disconnect)
        #expect(fixture.ended.isEmpty)
        #expect(fixture.state.nextWake > fixture.now)
        #expect(fixture.advance(to: fixture.state.nextWake) == .connect)
        fixture.logIn()
        #expect(fixture.write() == ["A"])
    }

    @Test func `a refused command keeps its deadline, and was not executed`() {
        var fixture = ConnectionFixture.ready(Self.cluster)
        fixture.submit("A", timeout: .seconds(1))
        while fixture.ended.isEmpty {
            if fixture.state.phase != .ready { fixture.logIn() }
            guard fixture.write() == ["A"] else { break }
            fixture.lose(fixture.receive(Self.error("TRYAGAIN Multiple keys"))!)
            fixture.advance(to: fixture.state.nextWake)
        }
        let error = fixture.error(2)
        #expect(error?.code == .unreachable)
        #expect(error?.mayHaveExecuted == false)
        #expect(error?.message.contains("TRYAGAIN") == true, "\(error?.message ?? "")")
    }

    @Test func `every node is tried once before a wait`() {
        var fixture = ConnectionFixture(Self.cluster)
        fixture.submit("A", timeout: .seconds(60))
        for round in 0..<3 {
            var stops = [fixture.stop]
            while fixture.lose(.passing("refused")) == .reconnect { stops.append(fixture.stop) }
            #expect(stops.sorted() == ["n1:6379", "n2:6379", "n3:6379"], "round \(round)")
            #expect(fixture.advance(to: fixture.state.nextWake) == .connect)
        }
    }

    @Test func `nodes that send us round and round are left alone for a while`() {
        var fixture = ConnectionFixture(Self.cluster)
        fixture.submit("A", timeout: .seconds(60))
        var connections = 0
        repeat {
            fixture.logIn()
            _ = fixture.write()
            connections += 1
        } while fixture.lose(fixture.receive(Self.error("MOVED 1 n\(connections % 2 + 1):6379"))!)
            == .reconnect
        #expect(connections == Route.redirectionsMax + 1)
        #expect(fixture.ended.isEmpty)
    }

    @Test func `a node outside the URL is known on when all seeds are away`() {
        var fixture = ConnectionFixture("redis+cluster://n1")
        fixture.submit("A", timeout: .seconds(60))
        fixture.logIn()
        _ = fixture.write()
        fixture.lose(fixture.receive(Self.error("MOVED 1 n9:7001"))!)
        fixture.logIn()
        _ = fixture.write()
        fixture.receive(.integer(1))
        fixture.lose()
        fixture.advance(to: fixture.state.nextWake)
        var stops: Set<String> = []
        for _ in 0..<4 {
            stops.insert(fixture.stop)
            if fixture.lose(.passing("refused")) == .disconnect {
                fixture.advance(to: fixture.state.nextWake)
            }
        }
        #expect(stops == ["n1:6379", "n9:7001"])
    }

    @Test func `without a cluster in the URL MOVED is an error that says what to write`() {
        var fixture = ConnectionFixture.ready()
        fixture.submit("A")
        _ = fixture.write()
        fixture.receive(Self.error("MOVED 1 n2:7001"))
        #expect(fixture.error(2)?.serverError?.prefix == "MOVED")
        #expect(fixture.error(2)?.mayHaveExecuted == false)
        #expect(fixture.error(2)?.message.contains("redis+cluster://") == true)
    }

    // MARK: Sentinel

    @Test func `a sentinel names the master, and the master confirms it`() {
        var fixture = ConnectionFixture(Self.sentinels)
        fixture.submit("A")
        #expect(fixture.stop == "s1:26379")
        #expect(fixture.connect() == true)
        #expect(
            fixture.state.loginSteps.map(\.arguments) == [
                ["AUTH", "w", "pw"], ["SENTINEL", "GET-MASTER-ADDR-BY-NAME", "photos"],
            ])
        // A sentinel without a password does not mind ours.
        fixture.receive(Self.error("WRONGPASS invalid username-password pair"))
        let answer = fixture.receive(Self.master("10.0.0.7", "6390"))
        #expect(fixture.lose(answer!) == .reconnect)
        #expect(fixture.stop == "10.0.0.7:6390")
        #expect(fixture.connect() == true)
        #expect(fixture.state.loginSteps.map(\.kind) == [.authenticate, .ping, .confirmMaster])
        for _ in 1...2 { fixture.receive(.status("OK")) }
        #expect(fixture.write().isEmpty)
        fixture.receive(ConnectionFixture.hello(role: "master"))
        #expect(fixture.write() == ["A"])
    }

    @Test func `a sentinel that is away is no reason to wait while there are others`() {
        var fixture = ConnectionFixture(Self.sentinels)
        fixture.submit("A", timeout: .seconds(60))
        #expect(fixture.lose(.passing("refused")) == .reconnect)
        #expect(fixture.stop == "s2:26379")
        // A machine that is off does not answer at all.
        #expect(fixture.advance(by: .seconds(1)) == .reconnect)
        #expect(fixture.stop == "s3:26379")
        #expect(fixture.lose(.passing("refused")) == .disconnect)
        #expect(fixture.advance(to: fixture.state.nextWake) == .connect)
        #expect(fixture.stop == "s1:26379")
    }

    @Test(arguments: ["slave", "replica"])
    func `a server that is no master is left, and the next sentinel asked`(role: String) {
        var fixture = ConnectionFixture("redis+sentinel://s1,s2/photos")
        fixture.submit("A", timeout: .seconds(60))
        _ = fixture.connect()
        fixture.lose(fixture.receive(Self.master("old", "6379"))!)
        _ = fixture.connect()
        fixture.receive(.status("PONG"))
        let failure = fixture.receive(ConnectionFixture.hello(role: role))
        #expect(failure?.reason.contains("not the master") == true)
        #expect(fixture.lose(failure!) == .disconnect)
        #expect(fixture.advance(to: fixture.state.nextWake) == .connect)
        #expect(fixture.stop == "s2:26379")
        #expect(fixture.ended.isEmpty)
    }

    @Test func `a name that no sentinel knows is told to the caller`() {
        var fixture = ConnectionFixture(Self.sentinels)
        fixture.submit("A")
        for step in [.reconnect, .reconnect, .disconnect] as [ConnectionState<Int>.Step] {
            _ = fixture.connect()
            fixture.receive(.status("OK"))
            #expect(fixture.ended.isEmpty)
            let failure = fixture.receive(.null)
            #expect(fixture.lose(failure!) == step)
        }
        #expect(fixture.error(1)?.code == .unknownMaster)
        #expect(fixture.error(1)?.mayHaveExecuted == false)
        #expect(fixture.error(1)?.message.contains("/photos") == true)
    }

    @Test(arguments: [
        RedisReply.integer(1), .array([]),
        .array([.bulk(Array("h".utf8)), .bulk(Array("x".utf8))]),
        .array([.bulk(Array("h".utf8)), .bulk(Array("70000".utf8))]), .status("OK"),
    ])
    func `an answer that is no address ends the attempt`(reply: RedisReply) {
        var fixture = ConnectionFixture("redis+sentinel://s1/photos")
        fixture.submit("A")
        _ = fixture.connect()
        #expect(fixture.receive(reply)?.code == .protocolViolation)
    }

    @Test(arguments: ["ERR unknown command 'SENTINEL'", "NOAUTH Authentication required."])
    func `a sentinel that refuses the question says so`(message: String) {
        var fixture = ConnectionFixture("redis+sentinel://s1/photos")
        fixture.submit("A")
        _ = fixture.connect()
        fixture.lose(fixture.receive(Self.error(message))!)
        #expect(fixture.error(1)?.code == .loginRefused)
        #expect(fixture.error(1)?.message.contains("sentinel") == true)
    }

    // MARK: Both

    @Test(arguments: [cluster, "redis+sentinel://s1,s2/photos"])
    func `every command ends exactly once whatever is refused`(url: String) {
        var generator = SeededGenerator()
        defer { generator.printSeed() }
        for _ in 0..<100 {
            var fixture = ConnectionFixture(url, pendingMax: 50)
            var executed: Set<String> = []
            var written: [String] = []
            for _ in 0..<400 {
                switch Int.random(in: 0..<10, using: &generator) {
                case 0...2:
                    fixture.submit(
                        "\(fixture.nextID + 1)",
                        timeout: .milliseconds(Int.random(in: 1...3000, using: &generator)))
                case 3, 4: written += fixture.write(Int.random(in: 0...5, using: &generator))
                case 5, 6:
                    guard !written.isEmpty else { continue }
                    let name = written.removeFirst()
                    let refusal = ["MOVED 1 n2:6379", "READONLY no", "TRYAGAIN later"]
                        .randomElement(using: &generator)!
                    if Int.random(in: 0..<3, using: &generator) == 0 {
                        if let failure = fixture.receive(Self.error(refusal)) {
                            fixture.lose(failure)
                        }
                    } else {
                        // Executed here: no other server may get it again.
                        #expect(executed.insert(name).inserted, "\(name) was executed twice")
                        if let failure = fixture.receive(.status(name)) { fixture.lose(failure) }
                        #expect(
                            fixture.reply(Int(name)!) == .status(name)
                                || fixture.error(Int(name)!)?.code == .cancelled)
                    }
                case 7: fixture.advance(by: .milliseconds(100))
                case 8:
                    _ = fixture.cancel(
                        Int.random(in: 1...max(1, fixture.nextID), using: &generator))
                default:
                    if fixture.state.phase != .ready, fixture.connect() {
                        for step in fixture.state.loginSteps {
                            let reply: RedisReply =
                                switch step.kind {
                                case .findMaster: Self.master("m", "6379")
                                case .confirmMaster: ConnectionFixture.hello(role: "master")
                                default: .status("OK")
                                }
                            if let failure = fixture.receive(reply) { fixture.lose(failure) }
                        }
                    } else if Bool.random(using: &generator) {
                        fixture.lose()
                    }
                }
                switch fixture.state.phase {
                case .ready, .leaving: break
                default: written = []
                }
            }
            _ = fixture.apply(fixture.state.close())
            #expect(fixture.ended.keys.sorted() == Array(1...max(1, fixture.nextID)))
            for (waiter, result) in fixture.ended where executed.contains("\(waiter)") {
                if case .failure(let error) = result { #expect(error.mayHaveExecuted) }
            }
        }
    }
}
