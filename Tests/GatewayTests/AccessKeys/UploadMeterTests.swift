import Edits
import JobQueue
import Redis
import Testing

@testable import AccessKeys

@Suite("Uploads of a day") struct UploadMeterTests {
    @Test func `bytes are counted until the day's are used up, and given back`() async throws {
        let fixture = try await KeyFixture()
        let meter = UploadMeter(
            redis: fixture.redis, queue: fixture.queue.name, bytesPerDay: 1000)
        func key(_ id: String, _ bytes: Int?) throws -> AccessKey {
            AccessKey(
                id: id,
                terms: try KeyTerms(
                    tenant: try JobID("acme"), assetPrefix: .all, scopes: [.enqueue],
                    quotas: KeyQuotas(uploadBytesPerDay: bytes)), createdAt: 0)
        }
        /// Charges the bytes and returns what is left of the day; nil if they are refused.
        func left(_ bytes: Int, _ key: AccessKey) async throws -> Int? {
            guard case .allowed(let left, _) = try await meter.charge(bytes, to: key) else {
                return nil
            }
            return left
        }
        let limited = try key("a", 100)
        guard case .allowed(40, let charge) = try await meter.charge(60, to: limited) else {
            Issue.record("it was refused")
            return
        }
        guard case .refused(40, let seconds) = try await meter.charge(41, to: limited) else {
            Issue.record("it went on")
            return
        }
        #expect((1...86_400).contains(seconds))
        try await meter.refund(charge)
        try await meter.refund(charge)
        #expect(try await left(0, limited) == 100)
        // A key without a quota has the gateway's.
        let usual = try key("b", nil)
        #expect(try await left(.max, usual) == nil)
        #expect(try await left(1000, usual) == 0)
        let huge = try key("c", KeyQuotas.bytesMax)
        #expect(try await left(KeyQuotas.bytesMax, huge) == 0)
        #expect(try await left(.max, huge) == nil)
        // Another day empties it.
        try await yesterday(fixture)
        #expect(try await left(1, huge) == KeyQuotas.bytesMax - 1)
    }

    /// Makes what was counted a count of another day.
    private func yesterday(_ fixture: KeyFixture) async throws {
        _ = try await fixture.redis.send([
            "HSET", RedisArgument(fixture.queue.name.gatewayKeys.uploads), "day", "1",
        ])
    }

    @Test func `a refund of yesterday takes nothing off today`() async throws {
        let fixture = try await KeyFixture()
        let meter = UploadMeter(
            redis: fixture.redis, queue: fixture.queue.name, bytesPerDay: 100)
        let key = AccessKey(
            id: "a", terms: try KeyTerms(tenant: nil, assetPrefix: .all, scopes: [.enqueue]),
            createdAt: 0)
        guard case .allowed(_, let charge) = try await meter.charge(60, to: key) else {
            Issue.record("it was refused")
            return
        }
        // The upload breaks off after midnight, when another one has begun.
        try await yesterday(fixture)
        guard case .allowed(left: 40, _) = try await meter.charge(60, to: key) else {
            Issue.record("yesterday counts")
            return
        }
        try await meter.refund(charge)
        guard case .refused(left: 40, _) = try await meter.charge(41, to: key) else {
            Issue.record("the bytes of today were given back")
            return
        }
    }
}
