import Foundation

/// The clock, the waits and the random numbers of a client. Tests replace them.
struct ClientRuntime: Sendable {
    /// The machine's clock.
    var now: @Sendable () -> BlobTime
    /// Waits. Throws if the task is cancelled.
    var sleep: @Sendable (Duration) async throws -> Void
    /// A number from 0 up to 1, evenly distributed.
    var random: @Sendable () -> Double

    /// The functions of the machine.
    static let real = ClientRuntime(
        now: { BlobTime(seconds: Int(Date().timeIntervalSince1970)) },
        sleep: { try await Task.sleep(for: $0) },
        random: { .random(in: 0..<1) })
}
