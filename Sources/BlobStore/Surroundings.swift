import Foundation

/// The parts of the world that decisions need: tests have a world of their own.
struct Surroundings: Sendable {
    /// The machine's clock.
    var now: @Sendable () -> BlobTime
    /// Waits; throws when the task is cancelled.
    var sleep: @Sendable (Duration) async throws -> Void
    /// A number from 0 up to 1, evenly distributed.
    var random: @Sendable () -> Double

    /// The machine's.
    static let real = Surroundings(
        now: { BlobTime(seconds: Int(Date().timeIntervalSince1970)) },
        sleep: { try await Task.sleep(for: $0) },
        random: { .random(in: 0..<1) })
}
