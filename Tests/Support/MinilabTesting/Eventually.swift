/// Waits until a condition that other processes bring about is true.
///
/// It polls the condition, and does not rely on a fixed delay.
@discardableResult
public func eventually<Value>(
    _ what: String, within limit: Duration = .seconds(300),
    _ read: () async throws -> Value?
) async throws -> Value {
    let end = ContinuousClock.now + limit
    while ContinuousClock.now < end {
        if let value = try await read() { return value }
        try await Task.sleep(for: .milliseconds(10))
    }
    throw TestingFailure("within \(limit) it did not come about that \(what)")
}
