import Edits
import MinilabTesting
import Testing

@testable import AccessKeys

@Suite("Shares of a pool") struct SharesTests {
    private let acme = FairShare.Owner.tenant("acme")
    private let globex = FairShare.Owner.tenant("globex")

    private func taken(by owner: FairShare.Owner, of share: inout FairShare) -> Int {
        var count = 0
        while share.take(owner) { count += 1 }
        return count
    }

    @Test func `a tenant takes half of what is free, and the next one finds some`() {
        var share = FairShare(.init(all: 100))
        #expect(taken(by: acme, of: &share) == 50)
        #expect(taken(by: globex, of: &share) == 25)
        for number in 0..<4 { #expect(taken(by: .tenant("t\(number)"), of: &share) > 0) }
        #expect(share.count < 100)
    }

    @Test func `the reserve and the rest are there for operators`() {
        var share = FairShare(.init(all: 100, reserve: 40))
        for number in 0..<100 { _ = taken(by: .tenant("t\(number)"), of: &share) }
        #expect(share.count <= 60)
        #expect(taken(by: .operator, of: &share) >= 40)
        #expect(share.count == 100)
    }

    @Test func `places that are given back can be taken again`() {
        var share = FairShare(.init(all: 8, ofTenantMax: 2))
        for _ in 0..<3 {
            #expect(taken(by: acme, of: &share) == 2)
            share.giveBack(acme)
            share.giveBack(acme)
            // One too many changes nothing.
            share.giveBack(acme)
            #expect(share.count == 0)
        }
    }

    private func key(_ id: String, _ tenant: String?) throws -> AccessKey {
        AccessKey(
            id: id,
            terms: try KeyTerms(
                tenant: tenant.map { try JobID($0) }, assetPrefix: .all, scopes: [.read]),
            createdAt: 0)
    }

    @Test func `all keys of a tenant share its permits`() throws {
        let permits = SharedPermits(.init(all: 10, reserve: 2), ofKeyMax: 3)
        var held: [SharedPermits.Permit] = []
        func take(_ id: String, _ tenant: String?) throws -> Bool {
            guard let permit = permits.take(for: try key(id, tenant)) else { return false }
            held.append(permit)
            return true
        }
        #expect(try (0..<4).map { _ in try take("a", "acme") } == [true, true, true, false])
        #expect(try (0..<2).map { _ in try take("b", "acme") } == [true, false])
        #expect(try take("c", "globex"))
        #expect(permits.refusedCount == 2)
        for permit in held.prefix(2) {
            permit.close()
            permit.close()
        }
        #expect(try take("b", "acme"))
        #expect(permits.count == 4)
        held = []
        #expect(permits.count == 0)
    }

    @Test func `callers that wait get turns by tenant, operators first`() async throws {
        let turns = FairTurns(.init(all: 1), waiting: .init(all: 64))
        try await turns.enter(acme)
        let (order, served) = AsyncStream.makeStream(of: String.self)
        func wait(_ name: String, _ owner: FairShare.Owner) async throws -> Task<Void, any Error> {
            let before = turns.waitingCount
            let task = Task {
                try await turns.withTurn(of: owner) { _ = served.yield(name) }
            }
            try await eventually("it waits") { turns.waitingCount > before ? true : nil }
            return task
        }
        var tasks: [Task<Void, any Error>] = []
        for (name, owner) in [
            ("a1", acme), ("a2", acme), ("a3", acme), ("g1", globex), ("o1", .operator),
        ] {
            tasks.append(try await wait(name, owner))
        }
        turns.leave(acme)
        for task in tasks { try await task.value }
        served.finish()
        #expect(await order.reduce(into: []) { $0.append($1) } == ["o1", "a1", "g1", "a2", "a3"])
    }

    @Test func `callers at one address get turns by browser, each in its order`() async throws {
        let turns = FairTurns(.init(all: 1), waiting: .init(all: 64))
        let proxy = FairShare.Owner.address("the proxy")
        try await turns.enter(proxy, as: "flood")
        let (order, served) = AsyncStream.makeStream(of: String.self)
        var tasks: [Task<Void, any Error>] = []
        func wait(_ name: String, _ member: String?) async throws {
            let before = turns.waitingCount
            tasks.append(
                Task {
                    try await turns.withTurn(of: proxy, as: member) { _ = served.yield(name) }
                })
            try await eventually("it waits") { turns.waitingCount > before ? true : nil }
        }
        for (name, member) in [
            ("f1", "flood"), ("f2", "flood"), ("f3", "flood"), ("a1", "ana"), ("a2", "ana"),
            ("b1", "ben"), ("f4", "flood"), ("a3", "ana"),
        ] {
            try await wait(name, member)
        }
        try await wait("nobody", nil)
        // One that leaves gives up its turn, and nobody else's.
        tasks[2].cancel()
        try await eventually("it has left") { turns.waitingCount == 8 ? true : nil }
        turns.leave(proxy)
        for (index, task) in tasks.enumerated() where index != 2 { try await task.value }
        served.finish()
        #expect(
            await order.reduce(into: []) { $0.append($1) }
                == ["f1", "a1", "b1", "f2", "a2", "a3", "f4", "nobody"])
    }

    @Test func `a tenant whose turns do not end keeps no other from its own`() async throws {
        let turns = FairTurns(.init(all: 8, ofTenantMax: 2), waiting: .init(all: 8))
        for _ in 0..<2 { try await turns.enter(acme) }
        let stuck = (0..<4).map { _ in Task { try await turns.enter(acme) } }
        try await eventually("its callers wait") { turns.waitingCount == 4 ? true : nil }
        await #expect(throws: FairTurns.Full.self) { try await turns.enter(acme) }
        #expect(turns.refusedCount == 1)
        try await turns.enter(globex)
        try await turns.enter(.operator)
        for task in stuck { task.cancel() }
        for task in stuck {
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        #expect(turns.waitingCount == 0)
    }
}
