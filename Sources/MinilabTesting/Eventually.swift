/// Waits until something that other processes bring about is so.
///
/// It looks again and again; it does not wait for a time to pass and hope.
@discardableResult
public func eventually<Value>(
    _ what: String, within limit: Duration = .seconds(300),
    _ look: () async throws -> Value?
) async throws -> Value {
    let end = ContinuousClock.now + limit
    while ContinuousClock.now < end {
        if let value = try await look() { return value }
        try await Task.sleep(for: .milliseconds(10))
    }
    throw TestingFailure("within \(limit) it did not come about that \(what)")
}
