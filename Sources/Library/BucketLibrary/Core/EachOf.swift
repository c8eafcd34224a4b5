import Edits

/// Calls `body` for each of `items`, a few at a time.
///
/// The first failure cancels the others and is thrown.
///
/// - Returns: the results, in the order of the items.
func eachOf<Item: Sendable, Value: Sendable>(
    _ items: [Item], atOnce: Int,
    _ body: @escaping @Sendable (Item) async throws(Failure) -> Value
) async throws(Failure) -> [Value] {
    let result = await withTaskGroup(of: (Int, Result<Value, Failure>).self) { group in
        var rest = items.enumerated().makeIterator()
        func begin() {
            guard let (index, item) = rest.next() else { return }
            group.addTask {
                do throws(Failure) {
                    return (index, .success(try await body(item)))
                } catch {
                    return (index, .failure(error))
                }
            }
        }
        for _ in 0..<max(1, atOnce) { begin() }
        var values: [Int: Value] = [:]
        while let (index, result) = await group.next() {
            switch result {
            case .success(let value):
                values[index] = value
                begin()
            case .failure(let failure):
                group.cancelAll()
                return Result<[Value], Failure>.failure(failure)
            }
        }
        return .success(items.indices.compactMap { values[$0] })
    }
    return try result.get()
}
