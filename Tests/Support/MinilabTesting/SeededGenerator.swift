import Foundation

/// SplitMix64, which returns the same numbers for the same seed.
///
/// Source: Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", 2014.
public struct SeededGenerator: RandomNumberGenerator {
    /// The initial seed. Tests print it, so that a run can be repeated.
    public let seed: UInt64
    private var state: UInt64

    /// The environment variable with the seed of a run to repeat.
    public static let variable = "MINILAB_SEED"

    /// Creates a generator with the environment's seed, or else a random one.
    public init() { self.init(usual: .random(in: .min ... .max)) }

    /// Creates a generator with the environment's seed, or else this one.
    public init(usual: UInt64) {
        let given = ProcessInfo.processInfo.environment[Self.variable].flatMap { UInt64($0) }
        self.init(seed: given ?? usual)
    }

    /// Creates a generator with a seed.
    public init(seed: UInt64) {
        self.seed = seed
        state = seed
    }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// Prints how to repeat this run.
    public func printSeed(_ name: String = #function) {
        print("\(name): repeat with \(Self.variable)=\(seed)")
    }
}
