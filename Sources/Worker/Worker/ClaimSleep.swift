import JobQueue
import Redis

/// The sleep of a claim loop that has nothing to claim. It ends by a wake-up from Redis, after a time, or
/// permanently.
actor ClaimSleep {
    private let queue: JobQueue
    /// A dedicated client, because the wait blocks its connection.
    private let reads: RedisClient
    private var sleep: Task<Result<Bool, QueueError>, Never>?
    private var isOver = false

    init(queue: JobQueue, reads: RedisClient) {
        self.queue = queue
        self.reads = reads
    }

    /// Sleeps. After ``end()`` it returns immediately.
    ///
    /// - Returns: whether Redis woke the worker.
    func sleep(atMost time: Duration) async throws(QueueError) -> Bool {
        guard !isOver else { return false }
        let task = Task { () -> Result<Bool, QueueError> in
            do throws(QueueError) {
                return .success(try await queue.sleep(atMost: time, on: reads))
            } catch {
                return .failure(error)
            }
        }
        sleep = task
        let result = await task.value
        sleep = nil
        if isOver, case .failure = result { return false }
        return try result.get()
    }

    /// Ends this sleep and all later ones: the worker claims no more jobs.
    func end() {
        isOver = true
        sleep?.cancel()
    }
}
