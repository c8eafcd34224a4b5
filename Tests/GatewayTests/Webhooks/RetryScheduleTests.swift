import MinilabTesting
import Testing

@testable import Webhooks

@Suite("When messages are sent again") struct RetryScheduleTests {
    @Test func `waits grow from 5 s to a day, and then the message is given up`() {
        let schedule = RetrySchedule()
        let waits = (1...20).map { schedule.delay(afterFailures: $0, random: 0) }
        #expect(
            waits.compactMap { $0?.components.seconds } == [
                5, 20, 80, 320, 1280, 5120, 20480, 81920,
            ])
        #expect(waits.dropFirst(8).allSatisfy { $0 == nil })
        #expect(schedule.delay(afterFailures: 0, random: 0) == nil)
        var longer = schedule
        longer.attemptsMax = 100
        #expect(longer.delay(afterFailures: 99, random: 0) == .seconds(86_400))
    }

    @Test func `jitter shortens a wait by up to a half, and spreads evenly`() throws {
        let schedule = RetrySchedule()
        var generator = SeededGenerator(usual: 7)
        generator.printSeed()
        var total = 0.0
        for _ in 0..<4000 {
            let random = Double.random(in: 0..<1, using: &generator)
            let wait = try #require(schedule.delay(afterFailures: 4, random: random))
            #expect(wait > .seconds(160) - .milliseconds(1) && wait <= .seconds(320))
            total += wait / .seconds(1)
        }
        #expect(abs(total / 4000 - 240) < 5)
    }

    @Test func `a receiver may ask for a longer wait, up to a day, and for no shorter one`() {
        let schedule = RetrySchedule()
        func wait(_ seconds: Int) -> Duration? {
            schedule.delay(afterFailures: 2, random: 0, atLeast: .seconds(seconds))
        }
        #expect(wait(3) == .seconds(20) && wait(600) == .seconds(600))
        #expect(wait(4_000_000_000) == .seconds(86_400))
    }

    @Test func `a parked message reads back from its text`() {
        for message in [
            ParkedMessage(.entry("1763700000000-0"), failures: 3),
            ParkedMessage(.gap(from: "1-0", to: "2-0"), failures: 0),
        ] { #expect(ParkedMessage(message.text) == message) }
        for text in ["", "x 1-0", "1", "-1 1-0", "1 1-0 2-0 3-0"] {
            #expect(ParkedMessage(text) == nil)
        }
    }
}
