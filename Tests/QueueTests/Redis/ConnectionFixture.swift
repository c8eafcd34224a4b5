import NIOCore
import Testing

@testable import Redis

/// The state machine with numbers for waiters and no socket.
struct ConnectionFixture {
    var state: ConnectionState<Int>
    var now = NIODeadline.uptimeNanoseconds(1_000_000_000)
    var ended: [Int: Result<RedisReply, RedisError>] = [:]
    var nextID = 0

    init(_ url: String = "redis://redis.example", name: String = "", pendingMax: Int = 10_000) {
        guard let url = try? RedisURL(url) else {
            preconditionFailure("the tests' own URLs are right")
        }
        var configuration = RedisConfiguration(url: url, name: name)
        configuration.pendingCommandsMax = pendingMax
        state = ConnectionState(configuration)
    }

    static func ready(_ url: String = "redis://redis.example") -> ConnectionFixture {
        var fixture = ConnectionFixture(url)
        fixture.submit("FIRST")
        fixture.logIn()
        #expect(fixture.write() == ["FIRST"])
        fixture.receive(.status("OK"))
        fixture.ended = [:]
        return fixture
    }

    @discardableResult
    mutating func submit(
        _ name: RedisArgument, timeout: Duration = .seconds(5)
    ) -> ConnectionState<Int>.Step {
        nextID += 1
        return apply(
            state.submit(
                id: UInt64(nextID), [name], timeout: timeout, waiter: nextID, now: now))
    }

    mutating func connect() -> Bool {
        state.connected()
    }

    mutating func logIn() {
        if case .backingOff = state.phase { advance(to: state.nextWake) }
        #expect(connect() == true)
        for step in state.loginSteps {
            _ = state.received(
                step.kind == .confirmMaster ? Self.hello(role: "master") : .status("OK"))
        }
        #expect(state.phase == .ready)
    }

    mutating func write(_ count: Int = .max) -> [String] {
        var names: [String] = []
        while names.count < count, let command = state.writeNext() {
            names.append(command[0].text)
        }
        return names
    }

    @discardableResult
    mutating func receive(_ reply: RedisReply) -> LinkFailure? {
        switch state.received(reply) {
        case .settles(let settlement): note([settlement])
        case .ends(let failure, let settlement):
            if let settlement { note([settlement]) }
            return failure
        case .passes, .postpones, .continuesLogin, .completesLogin: break
        }
        return nil
    }

    @discardableResult
    mutating func lose(
        _ failure: LinkFailure = .passing("it was cut"), random: Double = 0.5
    ) -> ConnectionState<Int>.Step {
        apply(state.lost(failure, now: now, random: random))
    }

    @discardableResult
    mutating func advance(by duration: Duration) -> ConnectionState<Int>.Step {
        advance(to: now + TimeAmount(duration))
    }

    @discardableResult
    mutating func advance(to deadline: NIODeadline) -> ConnectionState<Int>.Step {
        now = deadline
        return apply(state.wake(now: now, random: 0.5))
    }

    mutating func cancel(_ waiter: Int) -> ConnectionState<Int>.Step {
        apply(state.cancel(id: UInt64(waiter), now: now, random: 0.5))
    }

    mutating func apply(_ effects: ConnectionState<Int>.Effects) -> ConnectionState<Int>.Step {
        note(effects.settlements)
        return effects.step
    }

    mutating func note(_ settlements: [ConnectionState<Int>.Settlement]) {
        for settlement in settlements {
            #expect(ended[settlement.waiter] == nil, "waiter \(settlement.waiter) ended twice")
            ended[settlement.waiter] = settlement.result
        }
    }

    func error(_ waiter: Int) -> RedisError? {
        if case .failure(let error) = ended[waiter] { error } else { nil }
    }

    func reply(_ waiter: Int) -> RedisReply? {
        if case .success(let reply) = ended[waiter] { reply } else { nil }
    }

    /// The answer to HELLO, without what nobody asks for.
    static func hello(role: String) -> RedisReply {
        let words = ["mode", "standalone", "role", role]
        return .array(words.map { .bulk(Array($0.utf8)) })
    }

    /// Where the next connection goes.
    var stop: String { state.route.stop.address.location }
}
