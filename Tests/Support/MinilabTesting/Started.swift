/// A shared resource with a slow start: the first call starts it, and all callers share it.
actor Started<Value: Sendable> {
    private let start: @Sendable () async throws -> Value
    private var starting: Task<Value, any Error>?

    init(_ start: @escaping @Sendable () async throws -> Value) {
        self.start = start
    }

    func value() async throws -> Value {
        if let starting { return try await starting.value }
        let task = Task { [start] in try await start() }
        starting = task
        return try await task.value
    }
}
