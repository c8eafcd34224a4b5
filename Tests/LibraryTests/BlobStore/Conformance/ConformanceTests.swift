import MinilabTesting
import ServiceTesting
import Testing

@Suite("What a store has to do", .timeLimit(.minutes(10)))
struct ConformanceTests {
    private static let cases =
        StoreCase.objects + StoreCase.keys + StoreCase.lists + StoreCase.conditions
        + StoreCase.parts + StoreCase.rights

    @Test(
        .enabled("\(StoreServer.seaweed.needs)") { StoreServer.seaweed.isHere }, arguments: cases)
    func `SeaweedFS does`(stated: StoreCase) async throws {
        try await expect(stated, of: .seaweed)
    }

    @Test(.enabled("\(StoreServer.ceph.needs)") { StoreServer.ceph.isHere }, arguments: cases)
    func `Ceph does`(stated: StoreCase) async throws {
        try await expect(stated, of: .ceph)
    }

    private func expect(_ stated: StoreCase, of server: StoreServer) async throws {
        let conversation = Conversation(try await TestStore(on: server))
        for (number, step) in stated.steps.enumerated() {
            let seen = try await conversation.see(step.action)
            let expected = conversation.filled(step.expected(on: server))
            #expect(seen == expected, "step \(number + 1), \("\(step.action)".prefix(400))")
        }
    }
}
