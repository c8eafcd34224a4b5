import Adjustments
import JobQueue
import Redis
import Testing

@testable import AccessKeys

@Suite("Uploads of a day") struct UploadMeterTests {
    @Test func `bytes are counted until the day's are used up, and given back`() async throws {
        let fixture = try await KeyFixture()
        let meter = UploadMeter(redis: fixture.redis, queue: fixture.queue.name)
        func key(_ id: String, _ bytes: Int?) throws -> AccessKey {
            AccessKey(
                id: id,
                terms: try KeyTerms(
                    tenant: try JobID("acme"), assetPrefix: .all, scopes: [.enqueue],
                    quotas: KeyQuotas(uploadBytesPerDay: bytes)), createdAt: 0)
        }
        let limited = try key("a", 100)
        #expect(try await meter.charge(60, to: limited) == .allowed(left: 40))
        guard case .refused(40, let seconds) = try await meter.charge(41, to: limited) else {
            Issue.record("it went on")
            return
        }
        #expect((1...86_400).contains(seconds))
        #expect(try await meter.charge(-60, to: limited) == .allowed(left: 100))
        #expect(try await meter.charge(-60, to: limited) == .allowed(left: 100))
        #expect(try await meter.charge(.max, to: try key("b", nil)) == .allowed(left: nil))
        let huge = try key("c", KeyQuotas.bytesMax)
        #expect(try await meter.charge(KeyQuotas.bytesMax, to: huge) == .allowed(left: 0))
        guard case .refused = try await meter.charge(.max, to: huge) else {
            Issue.record("it went on")
            return
        }
        // Another day empties it.
        _ = try await fixture.redis.send([
            "HSET", RedisArgument(fixture.queue.name.keys.uploads), "day", "1",
        ])
        #expect(try await meter.charge(1, to: huge) == .allowed(left: KeyQuotas.bytesMax - 1))
    }
}
