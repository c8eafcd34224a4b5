/// Calls `body` for each of `items`, a few at a time, and returns the results in any order.
///
/// The first error cancels the others and is thrown.
func allOf<Item: Sendable, Value: Sendable>(
    _ items: [Item], atOnce: Int,
    _ body: @escaping @Sendable (Item) async throws(BlobError) -> Value
) async throws(BlobError) -> [Value] {
    let result = await withTaskGroup(of: Result<Value, BlobError>.self) { group in
        var rest = items[...]
        func begin() {
            guard let item = rest.popFirst() else { return }
            group.addTask {
                do throws(BlobError) { return .success(try await body(item)) } catch {
                    return .failure(error)
                }
            }
        }
        for _ in 0..<max(1, atOnce) { begin() }
        var values: [Value] = []
        while let result = await group.next() {
            switch result {
            case .success(let value):
                values.append(value)
                begin()
            case .failure(let error):
                group.cancelAll()
                return Result<[Value], BlobError>.failure(error)
            }
        }
        return .success(values)
    }
    return try result.get()
}
