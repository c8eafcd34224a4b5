import Edits
import Files
import Testing

@Suite("Work and the cancellation of its task") struct OffPoolTests {
    @Test func `what is done to its end is not stopped with the task that waits for it`()
        async throws
    {
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let (open, opening) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            try await toItsEnd {
                begin.yield()
                for await _ in open { break }
                try Task.checkCancellation()
                return "done"
            }
        }
        for await _ in begun { break }
        task.cancel()
        opening.yield()
        #expect(try await task.value == "done")
        let failing = Task<Void, any Error> {
            try await toItsEnd { throw Failure(.noSpace, "full") }
        }
        failing.cancel()
        await #expect(throws: Failure.self) { try await failing.value }
    }
}
