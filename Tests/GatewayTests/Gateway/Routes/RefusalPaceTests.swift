import AccessKeys
import HTTPTypes
import MinilabTesting
import Synchronization
import Testing

@testable import Gateway

@Suite("The pace of refusals") struct RefusalPaceTests {
    @Test func `whoever is refused again and again waits, and nobody else`() {
        let time = Mutex(Duration.zero)
        let pace = RefusalPace { time.withLock { $0 } }
        for _ in 0..<RefusalPace.atOnce {
            #expect(pace.delay(of: .tooManyRequests, to: "a") == nil)
        }
        #expect(pace.delay(of: .tooManyRequests, to: "a") == RefusalPace.wait)
        #expect(pace.delay(of: .unauthorized, to: "a") == RefusalPace.wait)
        #expect(pace.delay(of: .unauthorized, to: "b") == nil)
        // What is answered, or refused for what it asks, has the key's rate.
        #expect(pace.delay(of: .notFound, to: "a") == nil)
        time.withLock { $0 += .seconds(1) }
        for _ in 0..<RefusalPace.perSecond {
            #expect(pace.delay(of: .unauthorized, to: "a") == nil)
        }
        #expect(pace.delay(of: .unauthorized, to: "a") == RefusalPace.wait)
    }

    @Test(arguments: [false, true])
    func `a flood of refused calls is answered as slowly as its connections wait`(
        hasKey: Bool
    ) async throws {
        let rig = try await GatewayRig()
        let key = try await rig.key(
            "acme", scopes: [.read], quotas: KeyQuotas(requestsPerSecond: 1, requestBurst: 1))
        let id = String(key.split(separator: "_")[1])
        _ = try await rig.send("GET", "/v1/batches", key: key)
        let caller = hasKey ? id : "127.0.0.1"
        var status = 0
        try await eventually("an answer waits") {
            while rig.parts.limits.refusals.delay(of: .unauthorized, to: caller) == nil {}
            let begun = ContinuousClock.now
            status = try await rig.send("GET", "/v1/batches", key: hasKey ? key : nil).status
            return .now - begun >= RefusalPace.wait ? true : nil
        }
        #expect(status == (hasKey ? 429 : 401))
    }
}
