import EntryPoints
import Foundation
import MinilabTesting
import Testing

/// Every test run reads the seeds of ops/fuzz and the inputs that it has found.
@Suite("Entry points") struct SeedTests {
    private static let folder = Repository.root.appending(path: "ops/lib/fuzz/seeds")

    private func seeds(of target: FuzzTarget) throws -> [Data] {
        try FileManager.default.contentsOfDirectory(
            at: Self.folder.appending(path: target.rawValue), includingPropertiesForKeys: nil
        ).map { try Data(contentsOf: $0) }
    }

    @Test(arguments: FuzzTarget.allCases) func `every seed is read or refused`(
        _ target: FuzzTarget
    ) throws {
        let seeds = try seeds(of: target)
        #expect(!seeds.isEmpty)
        for seed in seeds { target.read(seed) }
    }

    /// Seeds harmed at each number that they may hold, which libFuzzer does better when it has the time.
    @Test(arguments: FuzzTarget.allCases)
    func `every seed that was tampered with is read or refused`(
        _ target: FuzzTarget
    ) throws {
        var random = SeededGenerator()
        random.printSeed()
        for seed in try seeds(of: target) where !seed.isEmpty {
            for _ in 0..<Self.rounds {
                var bytes = [UInt8](seed)
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    let start = Int.random(in: 0..<bytes.count, using: &random)
                    let end = min(bytes.count, start + 1 << Int.random(in: 0...3, using: &random))
                    switch Int.random(in: 0..<4, using: &random) {
                    case 0: for index in start..<end { bytes[index] = .max }
                    case 1: for index in start..<end { bytes[index] = 0 }
                    case 2: bytes[start] = .random(in: 0...255, using: &random)
                    default: bytes[start] ^= UInt8(1) << Int.random(in: 0...7, using: &random)
                    }
                }
                if Int.random(in: 0..<8, using: &random) == 0 {
                    bytes.removeLast(Int.random(in: 0..<bytes.count, using: &random))
                }
                target.read(Data(bytes))
            }
        }
    }

    /// Harmed copies of each seed.
    private static let rounds = Volume.trials(byDay: 10, byNight: 500)
}
