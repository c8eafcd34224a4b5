import Synchronization

/// Passes the first of several answers to the one task that waits for it, and drops the others. The cancellation of that task is an
/// answer, too.
public final class FirstAnswer<Value: Sendable>: Sendable {
    private struct State {
        var given: Result<Value, any Error>?
        var waiter: CheckedContinuation<Value, any Error>?
    }

    private let state = Mutex(State())

    public init() {}

    /// Gives an answer.
    ///
    /// - Returns: Whether it is the first one.
    @discardableResult
    public func give(_ answer: Result<Value, any Error>) -> Bool {
        let (isFirst, waiter) = state.withLock { state in
            let isFirst = state.given == nil
            if isFirst { state.given = answer }
            return (isFirst, state.waiter.take())
        }
        waiter?.resume(with: answer)
        return isFirst
    }

    /// The first answer.
    ///
    /// Throws `CancellationError` if the task is cancelled before one is given. Only one task may wait.
    public var value: Value {
        get async throws {
            try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    let given = state.withLock { state in
                        if state.given == nil { state.waiter = continuation }
                        return state.given
                    }
                    if let given { continuation.resume(with: given) }
                }
            } onCancel: {
                give(.failure(CancellationError()))
            }
        }
    }
}

/// Permits of which a number exist at a time. Tasks beyond it wait in the order of their arrival.
public final class AsyncSemaphore: Sendable {
    private struct State {
        var limit: Int
        var taken = 0
        var waiters: [Int: FirstAnswer<Void>] = [:]
        /// The number of the longest waiting task, and that of the next one.
        var numbers = 0..<0

        mutating func grant() {
            while taken < limit, let number = numbers.popFirst() {
                // One that was cancelled is gone, or goes now.
                if let waiter = waiters.removeValue(forKey: number), waiter.give(.success(())) {
                    taken += 1
                }
            }
        }
    }

    private let state: Mutex<State>

    public init(limit: Int) { state = Mutex(State(limit: limit)) }

    /// The number of permits. If it becomes smaller, permits that are taken stay so.
    public var limit: Int {
        get { state.withLock { $0.limit } }
        set {
            state.withLock { state in
                state.limit = newValue
                state.grant()
            }
        }
    }
    public var taken: Int { state.withLock { $0.taken } }
    public var waiting: Int { state.withLock { $0.waiters.count } }

    /// Takes a permit as soon as there is one. Each is given back by ``release()``.
    ///
    /// - Throws: `CancellationError` if the task is cancelled first; then it has no permit.
    public func acquire() async throws(CancellationError) {
        if Task.isCancelled { throw CancellationError() }
        let answer = FirstAnswer<Void>()
        let number = state.withLock { state in
            let number = state.numbers.upperBound
            state.numbers = state.numbers.lowerBound..<number + 1
            state.waiters[number] = answer
            state.grant()
            return number
        }
        do { try await answer.value } catch {
            state.withLock { _ = $0.waiters.removeValue(forKey: number) }
            throw CancellationError()
        }
    }

    public func release() {
        state.withLock { state in
            state.taken -= 1
            state.grant()
        }
    }

    /// Takes a permit even if there is none.
    public func seize() { state.withLock { $0.taken += 1 } }
}

/// The wait before a repeat: exponential with full jitter.
///
/// Full jitter spreads the clients of a restarted server best. Source: AWS Architecture Blog,
/// "Exponential Backoff And Jitter".
public struct Backoff: Sendable, Equatable {
    /// The bound of the first wait, which doubles with each failure, and that of all waits.
    public let base, max: Duration

    public init(base: Duration, max: Duration) { (self.base, self.max) = (base, max) }

    /// Returns the wait after a number of consecutive failures before the last one.
    ///
    /// - Parameter random: A number from 0 to 1, uniformly distributed.
    public func delay(failures: Int, random: Double = .random(in: 0..<1)) -> Duration {
        // 2^30 times any useful base is above any useful maximum, and far from overflow.
        min(max, base * (1 << min(Swift.max(0, failures), 30))) * random
    }
}

/// Calls `body` for each of `items`, a few at a time, and returns the results in the order of the items.
///
/// The first error cancels the others and is thrown.
public func concurrentMap<Item: Sendable, Value: Sendable, Problem: Error>(
    _ items: [Item], atOnce: Int,
    _ body: @escaping @Sendable (Item) async throws(Problem) -> Value
) async throws(Problem) -> [Value] {
    let result = await withTaskGroup(of: (Int, Result<Value, Problem>).self) { group in
        var rest = items.enumerated().makeIterator()
        func begin() {
            guard let (index, item) = rest.next() else { return }
            group.addTask {
                do throws(Problem) {
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
            case .failure(let error):
                group.cancelAll()
                return Result<[Value], Problem>.failure(error)
            }
        }
        return .success(items.indices.compactMap { values[$0] })
    }
    return try result.get()
}
