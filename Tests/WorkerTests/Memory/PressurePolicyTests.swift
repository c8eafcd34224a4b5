import MinilabTesting
import Testing

@testable import RenderPool

@Suite("Which level memory calls for") struct PressurePolicyTests {
    private let policy = PressurePolicy()
    private static let megabyte = 1 << 20

    private static func signs(
        now: Double = 0, average: Double = 0, left: Int? = nil, of limit: Int = 512 << 20,
        hit: Bool = false, kills: Int = 0
    ) -> PressureSigns {
        PressureSigns(
            stalledNow: now, stalled10: average,
            bound: left.map { PressureReading.Bound(limit: limit, used: limit - $0) },
            hitLimit: hit, kills: kills)
    }

    @Test(arguments: [
        (signs(), PressureLevel.calm),
        // A short stall alone says nothing, nor does the memory of one that is over.
        (signs(now: 0.14), .calm), (signs(average: 0.9), .calm),
        // One that lasts does.
        (signs(now: 0.05, average: 0.05), .holding), (signs(now: 0.1, average: 0.1), .shrinking),
        (signs(now: 0.2, average: 0.2), .pausing), (signs(now: 0.06, average: 0.9), .holding),
        // Three times the share need not last.
        (signs(now: 0.151), .holding), (signs(now: 0.301), .shrinking),
        (signs(now: 0.601), .pausing),
        (signs(now: 1, average: 1), .pausing),
        // What is left of 512 MB: below 61, 41, 25 and 10.
        (signs(left: 62 * megabyte), .calm), (signs(left: 61 * megabyte), .holding),
        (signs(left: 40 * megabyte), .shrinking), (signs(left: 25 * megabyte), .pausing),
        (signs(left: 26 * megabyte), .shrinking), (signs(left: 11 * megabyte), .pausing),
        (signs(left: 10 * megabyte), .requeueing), (signs(left: 0), .requeueing),
        // Of 64 GB the bounds in bytes count.
        (signs(left: 1024 * megabyte, of: 64 << 30), .calm),
        (signs(left: 1023 * megabyte, of: 64 << 30), .holding),
        (signs(left: 512 * megabyte, of: 64 << 30), .holding),
        (signs(left: 511 * megabyte, of: 64 << 30), .shrinking),
        (signs(left: 256 * megabyte, of: 64 << 30), .shrinking),
        (signs(left: 255 * megabyte, of: 64 << 30), .pausing),
        (signs(left: 64 * megabyte, of: 64 << 30), .pausing),
        (signs(left: 63 * megabyte, of: 64 << 30), .requeueing),
        // Page cache hits the limit all the time; it counts when little is left besides.
        (signs(left: 300 * megabyte, hit: true), .calm),
        (signs(left: 80 * megabyte, hit: true), .holding),
        (signs(kills: 1), .pausing),
    ])
    func `each sign calls for its level`(signs: PressureSigns, level: PressureLevel) {
        #expect(policy.wanted(signs) == level)
    }

    @Test(arguments: [
        (signs(now: 0.026), PressureLevel.holding), (signs(now: 0.024), .calm),
        (signs(now: 0.05), .shrinking), (signs(now: 0.1), .pausing),
        (signs(left: 91 * megabyte), .holding), (signs(left: 93 * megabyte), .calm),
        (signs(left: 37 * megabyte), .pausing), (signs(left: 15 * megabyte), .requeueing),
    ])
    func `a level is kept for less than it was reached by`(
        signs: PressureSigns, level: PressureLevel
    ) {
        #expect(policy.kept(signs) == level)
    }

    @Test func `what reaches a level also keeps it`() {
        var random = SeededGenerator(seed: 6)
        for _ in 0..<10_000 {
            let signs = Self.signs(
                now: .random(in: 0...1, using: &random),
                average: .random(in: 0...1, using: &random),
                left: .random(in: 0...(128 << 20), using: &random), hit: .random(using: &random),
                kills: .random(in: 0...1, using: &random))
            #expect(policy.kept(signs) >= policy.wanted(signs), "\(signs)")
        }
    }

    @Test func `a threshold of the operator's own moves all of them`() {
        let policy = PressurePolicy(stall: 0.2)
        #expect(policy.wanted(Self.signs(now: 0.19, average: 0.19)) == .calm)
        #expect(policy.wanted(Self.signs(now: 0.2, average: 0.2)) == .holding)
        #expect(policy.wanted(Self.signs(now: 0.8, average: 0.8)) == .pausing)
        // Three times an eighth: a number that Double has exactly.
        let exact = PressurePolicy(stall: 0.125)
        #expect(exact.wanted(Self.signs(now: 0.375)) == .holding)
        #expect(exact.wanted(Self.signs(now: 0.374)) == .calm)
        #expect(exact.kept(Self.signs(now: 0.0625)) == .holding)
    }
}

@Suite("What two readings of memory say") struct PressureSignsTests {
    private func reading(
        total milliseconds: Int, average: Double = 0, isOfGroup: Bool = true, left: Int = 8 << 30,
        hits: Int = 0, kills: Int = 0
    ) -> PressureReading {
        PressureReading(
            machine: PressureReading.Bound(limit: 16 << 30, used: (16 << 30) - left),
            stall: PressureReading.Stall(
                average10: average, total: .milliseconds(milliseconds), isOfGroup: isOfGroup),
            limitHits: hits, kills: kills)
    }

    private func signs(
        _ reading: PressureReading, since earlier: PressureReading?,
        over time: Duration = .seconds(1)
    ) -> PressureSigns {
        PressureSigns(reading, since: earlier, over: time, window: .seconds(1))
    }

    @Test func `stalls are told as a share of the time between`() {
        let start = reading(total: 1000)
        #expect(signs(reading(total: 1250), since: start).stalledNow == 0.25)
        #expect(
            signs(reading(total: 1250), since: start, over: .seconds(5)).stalledNow == 0.05)
        // Two looks in a row: not more than of a second.
        #expect(
            signs(reading(total: 1010), since: start, over: .milliseconds(10)).stalledNow == 0.01)
        #expect(signs(reading(total: 9000), since: start).stalledNow == 1)
        // The process was moved to another group, whose counters are others.
        #expect(signs(reading(total: 10), since: start).stalledNow == 0)
        #expect(signs(start, since: nil).stalledNow == 0)
    }

    @Test func `stalls of the machine are ours only when memory is short for us`() {
        func stalled(left: Int, isOfGroup: Bool) -> PressureSigns {
            signs(
                reading(total: 500, average: 0.3, isOfGroup: isOfGroup, left: left),
                since: reading(total: 0, isOfGroup: isOfGroup))
        }
        #expect(stalled(left: 8 << 30, isOfGroup: false).stalledNow == 0)
        #expect(stalled(left: 8 << 30, isOfGroup: false).stalled10 == 0)
        #expect(stalled(left: 3 << 30, isOfGroup: false).stalledNow == 0.5)
        #expect(stalled(left: 3 << 30, isOfGroup: false).stalled10 == 0.3)
        #expect(stalled(left: 8 << 30, isOfGroup: true).stalledNow == 0.5)
    }

    @Test func `counters are told when they rise, whatever they were before`() {
        let start = reading(total: 0, hits: 7, kills: 3)
        #expect(signs(start, since: nil).kills == 0)
        #expect(!signs(start, since: nil).hitLimit)
        let later = signs(reading(total: 0, hits: 8, kills: 5), since: start)
        #expect(later.kills == 2)
        #expect(later.hitLimit)
        // Another group: counters begin anew.
        #expect(signs(reading(total: 0), since: start).kills == 0)
    }

    @Test func `of group and machine the one that leaves less counts`() {
        var reading = reading(total: 0)
        reading.group = PressureReading.Bound(limit: 512 << 20, used: 500 << 20)
        #expect(signs(reading, since: nil).bound == reading.group)
        reading.group = PressureReading.Bound(limit: 512 << 20, used: 12 << 20)
        #expect(signs(reading, since: nil).bound == reading.machine)
        reading.group = nil
        reading.machine = nil
        #expect(signs(reading, since: nil).bound == nil)
    }

    @Test func `they are told as a sentence`() {
        let signs = PressureSigns(
            stalledNow: 0.234, stalled10: 0.1,
            bound: PressureReading.Bound(limit: 512 << 20, used: 481 << 20), hitLimit: true,
            kills: 2)
        #expect(
            signs.description
                == "tasks waited for memory 23 % of the last second, 10 % of the last 10 s, "
                + "31 MB of 512 MB are left, the limit was hit, the kernel killed 2 for memory")
    }
}
