import MinilabTesting
import Testing

@testable import RenderPool

@Suite("Memory ledger") struct MemoryLedgerTests {
    @Test func `what fits is granted at once`() {
        var ledger = MemoryLedger(budget: 100)
        let (first, grants) = ledger.request(60)
        #expect(grants == [.init(id: first, bytes: 60, passes: 0)])
        #expect(ledger.request(40).grants.count == 1)
        #expect(ledger.granted == 100)
        #expect(ledger.free == 0)
    }

    @Test func `what does not fit waits for what comes back, in order of arrival`() {
        var ledger = MemoryLedger(budget: 100)
        let running = ledger.request(100).id
        let second = ledger.request(70).id
        let third = ledger.request(70).id
        #expect(ledger.waiting.map(\.id) == [second, third])
        #expect(ledger.giveBack(running).map(\.id) == [second])
        #expect(ledger.giveBack(second).map(\.id) == [third])
    }

    @Test func `a small one passes a big one that waits`() {
        var ledger = MemoryLedger(budget: 100)
        _ = ledger.request(60)
        _ = ledger.request(80)
        let (small, grants) = ledger.request(40)
        #expect(grants == [.init(id: small, bytes: 40, passes: 1)])
        #expect(ledger.waiting.map(\.passed) == [1])
    }

    @Test func `a big one that has let sixteen pass lets nobody pass any more`() {
        var ledger = MemoryLedger(budget: 100)
        let running = ledger.request(60).id
        let big = ledger.request(100).id
        for _ in 0..<16 {
            #expect(!ledger.isBlocked)
            let (small, grants) = ledger.request(40)
            #expect(grants.map(\.id) == [small])
            #expect(ledger.giveBack(small).isEmpty)
        }
        #expect(ledger.isBlocked)
        let (late, grants) = ledger.request(1)
        #expect(grants.isEmpty)
        #expect(ledger.requestNow(1) == nil)
        #expect(ledger.giveBack(running).map(\.id) == [big])
        #expect(ledger.giveBack(big).map(\.id) == [late])
    }

    @Test func `a request that is last waits behind later ones, and not for ever`() {
        var ledger = MemoryLedger(budget: 100)
        let running = ledger.request(100).id
        let last = ledger.request(100, isLast: true).id
        let second = ledger.request(100).id
        #expect(ledger.waiting.map(\.id) == [second, last])
        #expect(ledger.giveBack(running).map(\.id) == [second])
        for _ in 1..<MemoryLedger.passedMax { _ = ledger.request(100) }
        // Enough others came before it.
        let late = ledger.request(100).id
        #expect(ledger.waiting.last?.id == late)
        #expect(ledger.waiting.dropLast().last?.id == last)
    }

    @Test func `who is withdrawn while it waits makes room for those behind it`() {
        var ledger = MemoryLedger(budget: 100)
        _ = ledger.request(50)
        let big = ledger.request(100).id
        for _ in 0..<MemoryLedger.passedMax {
            _ = ledger.giveBack(ledger.request(50).id)
        }
        let small = ledger.request(50).id
        #expect(ledger.waiting.map(\.id) == [big, small])
        #expect(ledger.withdraw(big).map(\.id) == [small])
    }

    @Test func `what is only wanted now leaves nothing behind`() {
        var ledger = MemoryLedger(budget: 100)
        let grant = ledger.requestNow(60)
        #expect(grant?.bytes == 60)
        #expect(ledger.requestNow(60) == nil)
        #expect(ledger.waiting.isEmpty)
        #expect(ledger.granted == 60)
    }

    @Test func `while it is held one at a time goes on`() {
        var ledger = MemoryLedger(budget: 100)
        let running = ledger.request(10).id
        #expect(ledger.pause(true).isEmpty)
        let ids = (0..<3).map { _ in
            let (id, grants) = ledger.request(10)
            #expect(grants.isEmpty)
            return id
        }
        #expect(ledger.requestNow(10) == nil)
        #expect(ledger.giveBack(running).map(\.id) == [ids[0]])
        #expect(ledger.giveBack(ids[0]).map(\.id) == [ids[1]])
        #expect(ledger.pause(false).map(\.id) == [ids[2]])
    }

    @Test(arguments: UInt64(1)...50)
    func `whatever comes and goes, the budget holds, few pass, and all are served`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let budget = Int.random(in: 1...1000, using: &random)
        var ledger = MemoryLedger(budget: budget)
        var arrived: [Int: Int] = [:]
        var running: Set<Int> = []
        var order: [Int] = []

        func take(_ grants: [MemoryLedger.Grant]) {
            for grant in grants {
                #expect(arrived.removeValue(forKey: grant.id) == grant.bytes)
                running.insert(grant.id)
                order.append(grant.id)
            }
            #expect(ledger.granted <= budget)
            #expect(ledger.waiting.allSatisfy { $0.passed <= MemoryLedger.passedMax })
            #expect(ledger.waiting.map(\.id) == arrived.keys.sorted())
            // Nobody waits for nothing.
            if let first = ledger.waiting.first { #expect(first.bytes > ledger.free) }
        }

        for _ in 0..<400 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                // Many small ones, some that need nearly all.
                let most = Bool.random(using: &random) ? budget : max(1, budget / 8)
                let bytes = Int.random(in: 1...most, using: &random)
                let before = ledger.waiting.count
                let (id, grants) = ledger.request(bytes)
                arrived[id] = bytes
                #expect(grants.allSatisfy { $0.passes <= before })
                take(grants)
            case 5..<9:
                if let id = running.sorted().randomElement(using: &random) {
                    running.remove(id)
                    take(ledger.giveBack(id))
                }
            default:
                if let id = arrived.keys.sorted().randomElement(using: &random) {
                    arrived[id] = nil
                    take(ledger.withdraw(id))
                }
            }
        }
        while let id = running.sorted().randomElement(using: &random) {
            running.remove(id)
            take(ledger.giveBack(id))
        }
        #expect(arrived.isEmpty)
        #expect(ledger.waiting.isEmpty)
        #expect(ledger.granted == 0)
        // Nobody was granted memory before more than so many that came earlier and were served later.
        for (place, id) in order.enumerated() {
            let passers = order[..<place].count { $0 > id }
            #expect(passers <= MemoryLedger.passedMax)
        }
    }
}
