import Testing

@testable import JobQueue

@Suite("Contact with Redis") struct RedisContactTests {
    private let start = ContinuousClock.now
    private let lease = Duration.seconds(30)

    private func contact(beatsAt seconds: [Double]) -> RedisContact {
        var contact = RedisContact()
        for second in seconds { contact.reach(at: start + .seconds(second), lease: lease) }
        return contact
    }

    private func mayReap(_ contact: RedisContact, at second: Double) -> Bool {
        contact.hasLasted(lease: lease, at: start + .seconds(second))
    }

    @Test func `a worker takes nothing back before a whole lease with Redis`() {
        #expect(!mayReap(RedisContact(), at: 100))
        #expect(!mayReap(contact(beatsAt: [0, 10, 20]), at: 29))
        #expect(mayReap(contact(beatsAt: [0, 10, 20, 30]), at: 30))
    }

    @Test func `an outage as long as a lease begins the time anew, one lost beat does not`() {
        #expect(mayReap(contact(beatsAt: [0, 10, 20, 40, 50]), at: 51))
        #expect(!mayReap(contact(beatsAt: [0, 10, 20, 30, 65, 75]), at: 76))
        #expect(mayReap(contact(beatsAt: [0, 10, 20, 30, 65, 75, 85, 95]), at: 95))
    }

    @Test func `while no beat comes through nothing is taken back`() {
        #expect(!mayReap(contact(beatsAt: [0, 10, 20, 30, 40]), at: 61))
    }
}
