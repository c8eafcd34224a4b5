import Edits
import MinilabTesting
import Testing

@Suite("Backoff") struct BackoffTests {
    private let backoff = Backoff(base: .milliseconds(100), max: .seconds(20))

    @Test(arguments: [
        (0, Duration.milliseconds(100)), (1, .milliseconds(200)), (7, .milliseconds(12_800)),
        (8, .seconds(20)), (9, .seconds(20)), (30, .seconds(20)), (Int.max, .seconds(20)),
    ])
    func `the bound doubles with each failure up to the maximum`(
        failures: Int, bound: Duration
    ) {
        #expect(backoff.delay(failures: failures, random: 1) == bound)
    }

    @Test func `jitter is full: from nothing to the bound, evenly`() {
        #expect(backoff.delay(failures: 3, random: 0) == .zero)
        #expect(backoff.delay(failures: 3, random: 0.25) == .milliseconds(200))
        var generator = SeededGenerator()
        defer { generator.printSeed() }
        for failures in 0..<40 {
            let random = Double.random(in: 0..<1, using: &generator)
            let delay = backoff.delay(failures: failures, random: random)
            #expect(delay >= .zero && delay < .seconds(20))
        }
    }
}

@Suite("Semaphore", .timeLimit(.minutes(10))) struct AsyncSemaphoreTests {
    @Test func `those beyond the limit wait in their order`() async throws {
        let semaphore = AsyncSemaphore(limit: 1)
        try await semaphore.acquire()
        let (order, entered) = AsyncStream.makeStream(of: Int.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...3 {
                group.addTask {
                    try await semaphore.acquire()
                    entered.yield(number)
                    semaphore.release()
                }
                try await eventually("\(number) wait") {
                    semaphore.waiting == number ? true : nil
                }
            }
            semaphore.release()
            try await group.waitForAll()
        }
        entered.finish()
        #expect(await order.reduce(into: []) { $0.append($1) } == [1, 2, 3])
        #expect(semaphore.taken == 0 && semaphore.waiting == 0)
    }

    @Test func `a task that is cancelled before or while it waits takes no permit`() async throws {
        let semaphore = AsyncSemaphore(limit: 1)
        try await semaphore.acquire()
        let waiter = Task { try await semaphore.acquire() }
        try await eventually("it waits") { semaphore.waiting == 1 ? true : nil }
        waiter.cancel()
        #expect(await waiter.result.isCancellation && semaphore.waiting == 0)
        semaphore.release()
        let late = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await semaphore.acquire()
        }
        #expect(await late.result.isCancellation && semaphore.taken == 0)
    }

    @Test func `a smaller limit takes no permit back, and a larger one wakes waiters`() async throws
    {
        let semaphore = AsyncSemaphore(limit: 2)
        try await semaphore.acquire()
        try await semaphore.acquire()
        semaphore.limit = 1
        semaphore.release()
        #expect(semaphore.taken == 1)
        let waiter = Task { try await semaphore.acquire() }
        try await eventually("it waits") { semaphore.waiting == 1 ? true : nil }
        semaphore.limit = 2
        try await waiter.value
        #expect(semaphore.taken == 2)
    }

    @Test func `no permit is lost when cancellation and release race`() async throws {
        let semaphore = AsyncSemaphore(limit: 2)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<500 {
                let task = Task {
                    try await semaphore.acquire()
                    await Task.yield()
                    semaphore.release()
                }
                if number % 3 == 0 { group.addTask { task.cancel() } }
                group.addTask { _ = await task.result }
            }
        }
        #expect(semaphore.taken == 0 && semaphore.waiting == 0)
    }
}

extension Result {
    fileprivate var isCancellation: Bool {
        if case .failure(let error) = self { error is CancellationError } else { false }
    }
}

@Suite("First answer") struct FirstAnswerTests {
    @Test func `only the first answer counts`() async throws {
        let answer = FirstAnswer<Int>()
        #expect(answer.give(.success(1)) && !answer.give(.success(2)))
        #expect(try await answer.value == 1)
    }
}

@Suite("Concurrent map") struct ConcurrentMapTests {
    @Test func `results have the order of the items`() async throws {
        let values = await concurrentMap(Array(0..<50), atOnce: 7) { number async -> Int in
            if number % 3 == 0 { await Task.yield() }
            return number * 2
        }
        #expect(values == (0..<50).map { $0 * 2 })
    }

    @Test func `the first error is thrown`() async {
        do throws(Failure) {
            _ = try await concurrentMap([1, 2, 3], atOnce: 1) { number throws(Failure) -> Int in
                if number == 2 { throw Failure(.ioFailure, "no disk") }
                return number
            }
            Issue.record("no error was thrown")
        } catch {
            #expect(error.code == .ioFailure)
        }
    }
}

@Suite("Lines") struct LineSplitterTests {
    @Test func `lines are cut anywhere by the network, and are the same lines`() throws {
        let text = "first\r\n\nsecond\n" + String(repeating: "x", count: 300) + "\nlast"
        for size in 1...400 {
            var splitter = LineSplitter(lineBytesMax: 200)
            var lines: [String?] = []
            func take(isLast: Bool) {
                func keep(_ bytes: UnsafeRawBufferPointer?, _ number: Int) {
                    lines.append(bytes.map { String(decoding: $0, as: UTF8.self) })
                    #expect(number == lines.count)
                }
                while splitter.next(isLast: isLast, keep) != nil {}
            }
            var rest = Array(text.utf8)[...]
            while !rest.isEmpty {
                Array(rest.prefix(size)).withUnsafeBytes { splitter.append($0) }
                take(isLast: false)
                rest = rest.dropFirst(size)
            }
            take(isLast: true)
            #expect(lines == ["first\r", "", "second", nil, "last"], "parts of \(size)")
        }
    }
}

@Suite("Coded error") struct CodedErrorTests {
    private enum PlainCode: ErrorCode { case broken }
    private enum ShownErrorCode: ErrorCode {
        static let isShown = true
        case broken
    }

    @Test func `its text has the code where its kind shows it`() {
        #expect("\(CodedError(PlainCode.broken, "it broke."))" == "it broke.")
        let shown = CodedError(ShownErrorCode.broken, "it broke.")
        #expect("\(shown)" == "broken: it broke." && shown.name == "ShownError")
    }
}
