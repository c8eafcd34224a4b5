import MinilabTesting
import NIOCore
import Testing

@testable import Redis

@Suite("ConnectionState") struct ConnectionStateTests {
    @Test func `the first command connects and the login comes before it`() {
        var fixture = ConnectionFixture("redis://w:pw@redis.example/3", name: "worker-1")
        #expect(fixture.submit("GET") == .connect)
        #expect(fixture.submit("SET") == .nothing)
        #expect(fixture.write().isEmpty)
        #expect(fixture.connect() == true)
        #expect(fixture.write().isEmpty)
        #expect(
            fixture.state.loginSteps.map(\.arguments) == [
                ["AUTH", "w", "pw"], ["CLIENT", "SETNAME", "worker-1"], ["SELECT", 3], ["PING"],
            ])
        for _ in 1...3 { fixture.receive(.status("OK")) }
        #expect(fixture.write().isEmpty)
        fixture.receive(.status("PONG"))
        #expect(fixture.write() == ["GET", "SET"])
    }

    @Test func `a password without a user is AUTH with one argument`() {
        var fixture = ConnectionFixture("redis://:pw@redis.example")
        fixture.submit("GET")
        #expect(fixture.state.loginSteps.map(\.arguments) == [["AUTH", "pw"], ["PING"]])
    }

    @Test func `replies go to commands in the order of writing`() {
        var fixture = ConnectionFixture.ready()
        for name in ["A", "B", "C"] as [RedisArgument] { #expect(fixture.submit(name) == .flush) }
        #expect(fixture.write() == ["A", "B", "C"])
        for number in 1...3 { fixture.receive(.integer(Int64(number))) }
        #expect(
            (2...4).map { fixture.reply($0) } == [.integer(1), .integer(2), .integer(3)])
    }

    @Test func `an error reply ends its own command only`() {
        var fixture = ConnectionFixture.ready()
        fixture.submit("A")
        fixture.submit("B")
        _ = fixture.write()
        fixture.receive(.error(RedisServerError("NOPERM no permission")))
        fixture.receive(.null)
        #expect(fixture.error(2)?.code == .server)
        #expect(fixture.error(2)?.serverError?.prefix == "NOPERM")
        #expect(fixture.reply(3) == .null)
        #expect(fixture.state.phase == .ready)
    }

    @Test func `a reply that nobody asked for ends the connection`() {
        var fixture = ConnectionFixture.ready()
        #expect(fixture.receive(.status("OK"))?.code == .protocolViolation)
    }

    @Test func `a lost connection ends what was written and keeps what waits`() {
        var fixture = ConnectionFixture.ready()
        for name in ["A", "B", "C"] as [RedisArgument] { fixture.submit(name) }
        #expect(fixture.write(2) == ["A", "B"])
        fixture.lose()
        #expect(fixture.error(2)?.code == .connectionLost)
        #expect(fixture.error(2)?.mayHaveExecuted == true)
        #expect(fixture.error(3)?.mayHaveExecuted == true)
        #expect(fixture.ended[4] == nil)
        #expect(fixture.error(2)?.message.contains("redis.example:6379") == true)

        fixture.logIn()
        #expect(fixture.write() == ["C"])
        fixture.receive(.integer(3))
        #expect(fixture.reply(4) == .integer(3))
    }

    @Test func `a late reply ends the connection because it may still come`() {
        var fixture = ConnectionFixture.ready()
        fixture.submit("SLOW", timeout: .seconds(1))
        fixture.submit("B")
        #expect(fixture.write() == ["SLOW", "B"])
        fixture.submit("C")
        #expect(fixture.advance(by: .milliseconds(999)) == .nothing)
        #expect(fixture.ended.isEmpty)
        #expect(fixture.advance(by: .milliseconds(1)) == .disconnect)
        #expect(fixture.error(2)?.code == .timeout)
        #expect(fixture.error(2)?.mayHaveExecuted == true)
        #expect(fixture.error(2)?.message.contains("SLOW") == true)
        #expect(fixture.error(3)?.code == .connectionLost)
        #expect(fixture.ended[4] == nil)
    }

    @Test func `a command that waits too long ends alone`() {
        var fixture = ConnectionFixture.ready()
        fixture.submit("A")
        #expect(fixture.write() == ["A"])
        fixture.submit("B", timeout: .seconds(1))
        #expect(fixture.advance(by: .seconds(1)) == .nothing)
        #expect(fixture.error(3)?.code == .timeout)
        #expect(fixture.error(3)?.mayHaveExecuted == false)
        fixture.receive(.integer(1))
        #expect(fixture.reply(2) == .integer(1))
    }

    @Test func `a deadline that passes leaves those of the others`() {
        var fixture = ConnectionFixture.ready()
        fixture.submit("A", timeout: .seconds(2))
        #expect(fixture.write() == ["A"])
        fixture.submit("B", timeout: .seconds(1))
        fixture.submit("C", timeout: .seconds(3))
        let start = fixture.now
        for (seconds, command) in [(1, 3), (2, 2), (3, 4)] {
            while fixture.error(command) == nil {
                #expect(fixture.state.nextWake <= start + .seconds(Int64(seconds)))
                fixture.advance(to: fixture.state.nextWake)
            }
            #expect(fixture.now == start + .seconds(Int64(seconds)))
        }
    }

    @Test func `the last failure is told, and a redirection is none`() {
        var fixture = ConnectionFixture("redis+cluster://n1,n2,n3")
        fixture.submit("A", timeout: .seconds(1))
        fixture.lose(.passing("the first reason"))
        fixture.lose(.passing("the second reason"))
        fixture.lose(.redirection(to: .tcp(host: "n9", port: 7001), "it was sent elsewhere"))
        fixture.advance(by: .seconds(1))
        #expect(fixture.error(1)?.code == .unreachable)
        #expect(fixture.error(1)?.message.contains("the second reason") == true)
    }

    @Test func `the deadline counts on while there is no connection`() {
        var fixture = ConnectionFixture()
        fixture.submit("A", timeout: .seconds(1))
        fixture.lose(.passing("connection refused"))
        while fixture.ended.isEmpty {
            if fixture.advance(to: fixture.state.nextWake) == .connect {
                fixture.lose(.passing("connection refused"))
            }
        }
        #expect(fixture.now == .uptimeNanoseconds(2_000_000_000))
        let error = fixture.error(1)
        #expect(error?.code == .unreachable)
        #expect(error?.mayHaveExecuted == false)
        #expect(error?.message.contains("redis.example:6379") == true)
        #expect(error?.message.contains("connection refused") == true)
    }

    @Test func `a command with no time left is not sent`() {
        var fixture = ConnectionFixture.ready()
        #expect(fixture.submit("A", timeout: .zero) == .nothing)
        #expect(fixture.error(2)?.code == .timeout)
        #expect(fixture.error(2)?.mayHaveExecuted == false)
        #expect(fixture.write().isEmpty)
    }

    @Test func `a slow connection attempt is given up and tried again`() {
        var fixture = ConnectionFixture()
        fixture.submit("A", timeout: .seconds(60))
        #expect(fixture.advance(to: fixture.state.nextWake) == .disconnect)
        #expect(fixture.now == .uptimeNanoseconds(6_000_000_000))
        #expect(fixture.connect() == false)
        #expect(fixture.advance(to: fixture.state.nextWake) == .connect)
        fixture.logIn()
        #expect(fixture.write() == ["A"])
    }

    @Test func `the waits grow until a command is answered`() {
        var fixture = ConnectionFixture()
        fixture.submit("A", timeout: .seconds(600))
        var waits: [Int64] = []
        for _ in 0..<10 {
            fixture.lose(random: 1)
            waits.append((fixture.state.nextWake - fixture.now).nanoseconds / 1_000_000)
            fixture.advance(to: fixture.state.nextWake)
        }
        #expect(waits == [100, 200, 400, 800, 1600, 3200, 6400, 12_800, 20_000, 20_000])
        fixture.logIn()
        _ = fixture.write()
        fixture.receive(.integer(1))
        fixture.lose(random: 1)
        #expect(fixture.state.nextWake - fixture.now == .milliseconds(100))
    }

    @Test func `cancelling a command that waits leaves the connection alone`() {
        var fixture = ConnectionFixture.ready()
        fixture.submit("A")
        fixture.submit("B")
        #expect(fixture.cancel(2) == .nothing)
        #expect(fixture.error(2)?.code == .cancelled)
        #expect(fixture.error(2)?.mayHaveExecuted == false)
        #expect(fixture.write() == ["B"])
        #expect(fixture.cancel(2) == .nothing)
    }

    @Test func `the reply to a cancelled command goes to nobody, and the others get theirs`() {
        var fixture = ConnectionFixture.ready()
        for name in ["A", "B", "C"] as [RedisArgument] { fixture.submit(name) }
        #expect(fixture.write() == ["A", "B", "C"])
        #expect(fixture.cancel(3) == .nothing)
        #expect(fixture.error(3)?.code == .cancelled)
        #expect(fixture.error(3)?.mayHaveExecuted == true)
        #expect(fixture.cancel(3) == .nothing)
        for number in 1...3 { #expect(fixture.receive(.integer(Int64(number))) == nil) }
        #expect(fixture.reply(2) == .integer(1))
        #expect(fixture.reply(4) == .integer(3))
        #expect(fixture.state.written.isEmpty)
        #expect(fixture.submit("D") == .flush)
    }

    @Test func `a cancelled command counts until its reply is there`() {
        var fixture = ConnectionFixture(pendingMax: 1)
        fixture.submit("A")
        fixture.logIn()
        #expect(fixture.write() == ["A"])
        #expect(fixture.cancel(1) == .nothing)
        fixture.submit("B")
        #expect(fixture.error(2)?.code == .tooManyPending)
        fixture.receive(.integer(1))
        #expect(fixture.submit("C") == .flush)
    }

    @Test func `the late reply to a cancelled command ends the connection as any does`() {
        var fixture = ConnectionFixture.ready()
        fixture.submit("SLOW", timeout: .seconds(1))
        fixture.submit("B")
        _ = fixture.write()
        #expect(fixture.cancel(2) == .nothing)
        #expect(fixture.advance(by: .seconds(1)) == .disconnect)
        #expect(fixture.error(3)?.code == .connectionLost)
    }

    @Test(arguments: ["XREAD", "blpop"])
    func `cancelling a command for which the server waits ends the connection`(
        name: String
    ) {
        var fixture = ConnectionFixture.ready()
        fixture.submit(RedisArgument(name))
        fixture.submit("B")
        _ = fixture.write()
        #expect(fixture.cancel(2) == .disconnect)
        #expect(fixture.error(2)?.code == .cancelled)
        #expect(fixture.error(2)?.mayHaveExecuted == true)
        #expect(fixture.error(3)?.code == .connectionLost)
    }

    @Test func `no more commands wait than the limit says`() {
        var fixture = ConnectionFixture(pendingMax: 2)
        for name in ["A", "B", "C"] as [RedisArgument] { fixture.submit(name) }
        #expect(fixture.ended.keys.sorted() == [3])
        #expect(fixture.error(3)?.code == .tooManyPending)
        // Those that are written count, too.
        fixture.logIn()
        #expect(fixture.write(1) == ["A"])
        fixture.submit("D")
        #expect(fixture.error(4)?.code == .tooManyPending)
        fixture.receive(.status("OK"))
        #expect(fixture.submit("E") == .flush)
    }

    @Test func `close ends all commands and refuses the next`() {
        var fixture = ConnectionFixture.ready()
        fixture.submit("A")
        _ = fixture.write()
        fixture.submit("B")
        #expect(fixture.apply(fixture.state.close()) == .disconnect)
        fixture.submit("C")
        #expect((2...4).map { fixture.error($0)?.code } == [.closed, .closed, .closed])
        #expect((2...4).map { fixture.error($0)?.mayHaveExecuted } == [true, false, false])
        #expect(fixture.state.nextWake == .distantFuture)
    }

    @Test(arguments: ["WRONGPASS invalid", "NOAUTH required", "NOPERM no", "ERR called without"])
    func `a refused login is told to all who wait and is tried again`(message: String) {
        var fixture = ConnectionFixture("redis://w:pw@redis.example")
        fixture.submit("A")
        #expect(fixture.connect() == true)
        let failure = fixture.receive(.error(RedisServerError(message)))
        #expect(failure?.code == .loginRefused)
        if let failure { fixture.lose(failure) }
        #expect(fixture.error(1)?.code == .loginRefused)
        #expect(fixture.error(1)?.serverError?.message == message)
        #expect(fixture.error(1)?.message.contains("user \"w\"") == true)
        fixture.submit("B")
        #expect(fixture.error(2)?.code == .loginRefused)

        #expect(fixture.advance(to: fixture.state.nextWake) == .connect)
        fixture.submit("C")
        fixture.logIn()
        #expect(fixture.write() == ["C"])
    }

    @Test(arguments: ["LOADING Redis is loading", "ERR max number of clients reached"])
    func `a server that is not ready yet is waited for`(message: String) {
        var fixture = ConnectionFixture()
        fixture.submit("A")
        #expect(fixture.connect() == true)
        let failure = fixture.receive(.error(RedisServerError(message)))
        if let failure { fixture.lose(failure) }
        #expect(fixture.ended.isEmpty)
        fixture.logIn()
        #expect(fixture.write() == ["A"])
    }

    @Test func `a user who may not PING is logged in`() {
        var fixture = ConnectionFixture()
        fixture.submit("A")
        #expect(fixture.connect() == true)
        fixture.receive(.error(RedisServerError("NOPERM this user has no permissions")))
        #expect(fixture.write() == ["A"])
    }

    @Test func `every command ends exactly once whatever happens`() {
        var generator = SeededGenerator()
        defer { generator.printSeed() }
        for _ in 0..<200 {
            var fixture = ConnectionFixture(pendingMax: 50)
            var written: [String] = []
            for _ in 0..<400 {
                switch Int.random(in: 0..<12, using: &generator) {
                case 0...3:
                    let timeout = Duration.milliseconds(
                        Int.random(in: 1...3000, using: &generator))
                    fixture.submit("\(fixture.nextID + 1)", timeout: timeout)
                case 4, 5: written += fixture.write(Int.random(in: 0...5, using: &generator))
                case 6...8:
                    guard fixture.state.phase == .ready, !written.isEmpty else { continue }
                    // The server echoes the oldest name; it must reach that very waiter.
                    let name = written.removeFirst()
                    fixture.receive(.status(name))
                    let waiter = Int(name) ?? 0
                    #expect(
                        fixture.reply(waiter) == .status(name)
                            || fixture.error(waiter)?.code == .cancelled)
                case 9: fixture.advance(by: .milliseconds(100))
                case 10:
                    let last = max(1, fixture.nextID)
                    _ = fixture.cancel(Int.random(in: 1...last, using: &generator))
                default:
                    if fixture.state.connected() {
                        fixture.receive(.status("PONG"))
                    } else if Bool.random(using: &generator) {
                        fixture.lose()
                    }
                }
                if fixture.state.phase != .ready { written = [] }
            }
            _ = fixture.apply(fixture.state.close())
            #expect(fixture.ended.keys.sorted() == Array(1...max(1, fixture.nextID)))
        }
    }
}
