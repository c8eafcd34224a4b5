import MinilabTesting
import Testing

@testable import PhotoFiles

@Suite("Parts of a movie") struct MoviePartsTests {
    /// A table of samples that are shown at these times, in the order in which they are decoded.
    private static func table(_ times: [Int], sync: [Int]) -> SampleTable {
        SampleTable(
            sizes: times.map { _ in 1 }, chunks: [.init(offset: 0, samples: 0..<times.count)],
            decodeTimes: Array(times.indices), times: times, lastDuration: 1, syncSamples: sync)
    }

    @Test func `begin at sync samples, eight seconds apart at least`() throws {
        let plan = try MovieParts(
            Self.table(Array(0..<40), sync: [0, 5, 9, 16, 17, 30]), timeScale: 1)
        #expect(plan.parts.map(\.frames) == [0..<9, 9..<17, 17..<30, 30..<40])
        #expect(plan.parts.map(\.decoded) == [0..<9, 9..<17, 17..<30, 30..<40])
    }

    @Test func `decode the leading pictures of the next group, which are shown before it`() throws {
        // Decoded: 8 is a sync sample shown at 10, and 9 and 10 are shown before it.
        let plan = try MovieParts(
            Self.table([0, 1, 2, 3, 4, 5, 6, 7, 10, 8, 9, 11, 12], sync: [0, 8]), timeScale: 1)
        #expect(plan.parts[0] == .init(decoded: 0..<11, frames: 0..<10))
        #expect(plan.parts[1] == .init(decoded: 8..<13, frames: 10..<13))
    }

    @Test func `need a first sample that stands by itself`() {
        #expect(throws: MovieProblem.self) {
            try MovieParts(Self.table([0, 1, 2], sync: [1]), timeScale: 1)
        }
    }

    @Test func `have each frame once, whatever the tables say`() throws {
        var random = SeededGenerator()
        for _ in 0..<300 {
            let count = Int.random(in: 1...60, using: &random)
            let times = (0..<count).map { 3 * $0 + Int.random(in: -7...7, using: &random) }
            let sync =
                [0]
                + (1..<max(2, count)).filter { _ in
                    Int.random(in: 0..<6, using: &random) == 0 && count > 1
                }
            let plan = try MovieParts(Self.table(times, sync: sync), timeScale: 2)
            #expect(plan.parts.first?.frames.lowerBound == 0, "seed \(random.seed)")
            #expect(plan.parts.last?.frames.upperBound == count, "seed \(random.seed)")
            for (part, next) in zip(plan.parts, plan.parts.dropFirst()) {
                #expect(part.frames.upperBound == next.frames.lowerBound, "seed \(random.seed)")
            }
            let order = times.indices.sorted { (times[$0], $0) < (times[$1], $1) }
            for part in plan.parts {
                #expect(sync.contains(part.decoded.lowerBound))
                // It decodes all frames that it shows from its own group on.
                let needed = order[part.frames].filter { $0 >= part.decoded.lowerBound }
                #expect(needed.allSatisfy(part.decoded.contains), "seed \(random.seed)")
            }
        }
    }
}
