import MinilabTesting
import Testing

@testable import RenderPool
@testable import Worker

@Suite("The level of a worker over time") struct PressureLadderTests {
    /// A kernel and a clock, both the test's.
    private struct Play {
        static let quiet: Duration = .seconds(3)
        static let tick: Duration = .milliseconds(250)

        private(set) var ladder = PressureLadder(PressurePolicy(), quiet: quiet)
        private(set) var now = ContinuousClock.now
        private let start = ContinuousClock.now
        private var total: Duration = .zero
        private var average = 0.0

        var passed: Duration { now - start }

        /// One reading later.
        ///
        /// - Parameter stall: share of the time of the tick in which tasks wait.
        @discardableResult
        mutating func turn(
            stall: Double = 0, left: Int = 400 << 20, tick: Duration = tick
        ) -> PressureLadder.Turn {
            now += tick
            total += tick * stall
            // The kernel's average over 10 s, taken each tick.
            let weight = min(1, tick / .seconds(10))
            average += (stall - average) * weight
            return ladder.turn(
                PressureReading(
                    group: PressureReading.Bound(limit: 512 << 20, used: (512 << 20) - left),
                    stall: PressureReading.Stall(
                        average10: average, total: total, isOfGroup: true)), at: now)
        }

        /// Turns until a level is reached.
        ///
        /// - Returns: the levels on the way.
        mutating func turn(
            until level: PressureLevel, stall: Double = 0, most: Int = 1000
        ) -> [PressureLevel] {
            var levels: [PressureLevel] = []
            for _ in 0..<most where ladder.level != level {
                let turn = turn(stall: stall)
                if turn.level != turn.before { levels.append(turn.level) }
            }
            return levels
        }
    }

    @Test func `a stall is answered within a second, however slow the kernel's average is`() {
        for (stall, level) in [(0.2, PressureLevel.holding), (0.4, .shrinking), (0.9, .pausing)] {
            var play = Play()
            for _ in 0..<40 { play.turn() }
            let before = play.passed
            _ = play.turn(until: level, stall: stall)
            #expect(play.ladder.level == level)
            #expect(play.passed - before <= .seconds(1), "\(stall)")
        }
    }

    @Test func `a small stall that lasts is answered, one that is over is not`() {
        var lasting = Play()
        lasting.turn()
        let levels = lasting.turn(until: .holding, stall: 0.08)
        #expect(levels == [.holding])
        #expect(lasting.passed < .seconds(15))
        var short = Play()
        short.turn()
        for _ in 0..<2 { short.turn(stall: 0.1) }
        for _ in 0..<100 { #expect(short.turn().level == .calm) }
    }

    @Test func `a limit that is close is answered at once, from any level`() {
        var play = Play()
        #expect(play.turn(left: 60 << 20).level == .holding)
        #expect(play.turn(left: 5 << 20).level == .requeueing)
    }

    @Test func `it comes down step by step, each after a quiet time`() {
        var play = Play()
        play.turn()
        #expect(
            play.turn(until: .requeueing, stall: 1) == [
                .holding, .shrinking, .pausing, .requeueing,
            ])
        let before = play.passed
        #expect(play.turn(until: .calm) == [.pausing, .shrinking, .holding, .calm])
        let took = play.passed - before
        // And before the first one the second in which tasks waited has to pass.
        #expect(took >= Play.quiet * 4)
        #expect(took <= Play.quiet * 4 + .seconds(2))
    }

    @Test func `what is between the two thresholds keeps a level for as long as it lasts`() {
        var play = Play()
        play.turn()
        _ = play.turn(until: .holding, stall: 0.2)
        for _ in 0..<200 { #expect(play.turn(stall: 0.03).level == .holding) }
        for _ in 0..<20 { play.turn(stall: 0.01) }
        #expect(play.ladder.level == .calm)
    }

    @Test
    func `pausing that does not help becomes requeueing, and that lasts while it is called for`() {
        var play = Play()
        play.turn()
        _ = play.turn(until: .pausing, stall: 0.9)
        let before = play.passed
        _ = play.turn(until: .requeueing, stall: 0.9)
        #expect(play.passed - before == PressureLadder.pausingMax)
        for _ in 0..<100 {
            let turn = play.turn(stall: 0.9)
            #expect(turn.level == .requeueing)
            #expect(turn.isStrained)
        }
        #expect(!play.turn(stall: 0).signs.description.isEmpty)
    }

    @Test func `pausing that helps stays pausing and ends`() {
        var play = Play()
        play.turn()
        _ = play.turn(until: .pausing, stall: 0.9)
        // The kernel's average is high for long after.
        #expect(play.turn(until: .calm) == [.shrinking, .holding, .calm])
    }

    @Test func `when the kernel says nothing any more it comes down`() {
        var play = Play()
        _ = play.turn(left: 5 << 20)
        var ladder = play.ladder
        var now = play.now
        for _ in 0..<100 {
            now += Play.tick
            _ = ladder.turn(PressureReading(), at: now)
        }
        #expect(ladder.level == .calm)
    }

    @Test func `readings that come late are shares of the time that has passed`() {
        var play = Play()
        play.turn()
        // Two seconds of stall in forty.
        #expect(play.turn(stall: 0.05, tick: .seconds(40)).signs.stalledNow < 0.051)
        // A worker that could not read for ten seconds because it stood still itself.
        #expect(play.turn(stall: 0.9, tick: .seconds(10)).level == .pausing)
    }

    @Test(arguments: UInt64(1)...40)
    func `on any walk no level is entered twice within a quiet time, and calm comes back`(
        seed: UInt64
    ) {
        var random = SeededGenerator(seed: seed)
        var play = Play()
        var entered: [PressureLevel: Duration] = [:]
        var stall = 0.0
        var left = 400 << 20
        for _ in 0..<4000 {
            switch Int.random(in: 0..<20, using: &random) {
            case 0: stall = .random(in: 0...1, using: &random)
            case 1: stall = 0
            case 2: left = .random(in: 0...(100 << 20), using: &random)
            case 3: left = 400 << 20
            default: stall = min(1, max(0, stall + .random(in: -0.05...0.05, using: &random)))
            }
            let turn = play.turn(
                stall: stall, left: left,
                tick: .milliseconds(.random(in: 50...1500, using: &random)))
            guard turn.level != turn.before else { continue }
            if turn.level < turn.before {
                #expect(turn.level == turn.before.below)
            } else {
                if let last = entered[turn.level] {
                    #expect(play.passed - last >= Play.quiet, "\(turn) of seed \(seed)")
                }
                entered[turn.level] = play.passed
            }
        }
        let before = play.passed
        _ = play.turn(until: .calm)
        #expect(play.ladder.level == .calm)
        #expect(play.passed - before <= Play.quiet * 4 + .seconds(2))
    }
}

@Suite("What is done to renders when memory is short") struct RenderStepTests {
    private func next(
        _ level: PressureLevel, strained: Bool, running: Int, paused: Int = 0,
        waited: Duration? = .seconds(1)
    ) -> PressureAction? {
        PressureAction.next(
            PressureLadder.Turn(
                before: level, level: level, signs: .none, isStrained: strained),
            running: running, paused: paused, waited: waited)
    }

    @Test func `renders are paused one after the other, and the last one never`() {
        #expect(next(.pausing, strained: true, running: 3) == .pause)
        #expect(next(.pausing, strained: true, running: 2, paused: 1) == .pause)
        #expect(next(.pausing, strained: true, running: 1, paused: 2) == nil)
        #expect(next(.pausing, strained: true, running: 0) == nil)
        // It helped.
        #expect(next(.pausing, strained: false, running: 2, paused: 1) == nil)
    }

    @Test func `jobs are handed back one after the other, and the last one never`() {
        #expect(next(.requeueing, strained: true, running: 2) == .requeue)
        #expect(next(.requeueing, strained: true, running: 1, paused: 1) == .requeue)
        #expect(next(.requeueing, strained: true, running: 1) == nil)
        #expect(next(.requeueing, strained: false, running: 1, paused: 1) == nil)
    }

    @Test func `what stands still runs on one after the other`() {
        for level in [PressureLevel.calm, .holding, .shrinking] {
            #expect(next(level, strained: false, running: 1, paused: 2) == .resume)
            #expect(next(level, strained: false, running: 3) == nil)
        }
    }

    @Test func `one step is waited for before the next, unless nothing runs`() {
        let soon = PressureAction.interval - .milliseconds(1)
        #expect(next(.pausing, strained: true, running: 3, waited: soon) == nil)
        #expect(next(.pausing, strained: true, running: 3, waited: nil) == .pause)
        #expect(next(.calm, strained: false, running: 1, paused: 1, waited: soon) == nil)
        #expect(next(.requeueing, strained: true, running: 0, paused: 2, waited: .zero) == .resume)
    }

    @Test(arguments: UInt64(1)...50)
    func `whatever happens, one render runs as soon as there is one, and all do in the end`(
        seed: UInt64
    ) {
        var random = SeededGenerator(seed: seed)
        var (running, paused) = (0, 0)
        func take(_ level: PressureLevel, strained: Bool) {
            switch next(level, strained: strained, running: running, paused: paused) {
            case .pause: (running, paused) = (running - 1, paused + 1)
            case .resume: (running, paused) = (running + 1, paused - 1)
            // The youngest: one that stands still, if any does.
            case .requeue: if paused > 0 { paused -= 1 } else { running -= 1 }
            case nil: break
            }
        }
        for _ in 0..<500 {
            if running + paused < 8, .random(using: &random) { running += 1 }
            if running > 0, Int.random(in: 0..<4, using: &random) == 0 { running -= 1 }
            let level = PressureLevel.allCases.randomElement(using: &random) ?? .calm
            take(level, strained: level >= .pausing && .random(using: &random))
            #expect(running > 0 || paused == 0)
        }
        for _ in 0..<8 { take(.calm, strained: false) }
        #expect(paused == 0)
    }

    @Test func `what a worker takes on falls with the level`() {
        #expect(PressureLevel.allCases.map { $0.claims(held: 0, slots: 4) } == [4, 1, 1, 0, 0])
        #expect(PressureLevel.allCases.map { $0.claims(held: 3, slots: 4) } == [1, 0, 0, 0, 0])
        #expect(PressureLevel.calm.claims(held: 5, slots: 4) == 0)
        #expect(PressureLevel.allCases.map { $0.memoryMax(of: 100) } == [100, 100, 50, 50, 50])
        #expect(
            PressureLevel.allCases.map(\.description) == [
                "calm", "holding", "shrinking", "pausing", "requeueing",
            ])
    }
}
