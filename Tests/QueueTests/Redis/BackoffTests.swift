import MinilabTesting
import Testing

@testable import Redis

@Suite("Backoff") struct BackoffTests {
    private let backoff = Backoff(base: .milliseconds(100), max: .seconds(20))

    @Test(arguments: [
        (0, Duration.milliseconds(100)), (1, .milliseconds(200)), (7, .milliseconds(12_800)),
        (8, .seconds(20)), (9, .seconds(20)), (30, .seconds(20)), (Int.max, .seconds(20)),
    ])
    func `the bound doubles with each failure up to the maximum`(
        failures: Int, bound: Duration
    ) {
        #expect(backoff.delay(failures: failures, random: 1) == bound)
    }

    @Test func `jitter is full: from nothing to the bound, evenly`() {
        #expect(backoff.delay(failures: 3, random: 0) == .zero)
        #expect(backoff.delay(failures: 3, random: 0.25) == .milliseconds(200))
        var generator = SeededGenerator()
        defer { generator.printSeed() }
        for failures in 0..<40 {
            let random = Double.random(in: 0..<1, using: &generator)
            let delay = backoff.delay(failures: failures, random: random)
            #expect(delay >= .zero && delay < .seconds(20))
        }
    }
}
