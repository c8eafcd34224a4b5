public import Logging
import Synchronization

/// Compares a queue with what its library remembers of it, again and again, and logs what Redis has lost.
///
/// One program alone can be the first to notice a loss. The queue keeps when that was, and so every program tells it once, workers
/// and gateways.
public final class GenerationWatch: Sendable {
    /// The time between two comparisons.
    public static let compareEvery: Duration = .seconds(60)

    private let queue: JobQueue
    private let isRaised: Bool
    private let logger: Logger
    /// When the loss was noticed that was told last, in ms of the queue's time.
    private let told = Mutex(0)

    /// - Parameter isRaised: whether the queue's turn is raised, as workers do.
    public init(_ queue: JobQueue, isRaised: Bool, _ logger: Logger) {
        (self.queue, self.isRaised, self.logger) = (queue, isRaised, logger)
    }

    /// Compares now. What fails is logged: the next turn comes.
    ///
    /// - Parameters:
    ///   - note: what the library remembers.
    ///   - keep: has the library remember.
    public func compare(
        note: () async throws -> [UInt8]?, keep: ([UInt8]) async throws -> Void
    ) async {
        do {
            guard
                let noticed = try await queue.compareGeneration(
                    isRaised: isRaised, note: note, keep: keep)
            else { return }
            let isNew = told.withLock { told in
                defer { told = noticed.at }
                return told != noticed.at
            }
            if isNew { logger.error("\(noticed.loss.sentence(of: queue.name))") }
        } catch {
            if Task.isCancelled { return }
            logger.warning(
                "the queue could not be compared with what the library remembers of it",
                metadata: ["error": "\(error)"])
        }
    }
}
