import Edits
import Redis
import Testing

@testable import JobQueue

/// How two batches of one tenant and one priority share what workers do. A stranger saw a newer one do 617 jobs while the older one did 7.
@Suite("Batches that are one flow") struct BatchTurnTests {
    @Test func `take turns of a window, and get half each over several of them`() async throws {
        var settings = QueueSettings()
        settings.window = 40
        let q = try await QueueFixture(settings: settings)
        let size = 400
        for batch in ["older", "newer"] {
            try await q.xadd([
                "batch": .init(batch), "edit": .init(QueueFixture.recipe), "seal": .init("\(size)"),
            ])
            _ = try await q.queue.admit()
            for number in 0..<size {
                try await q.addToBatchStream(of: batch, ["asset": .init("\(batch)\(number)")])
            }
            while try await q.queue.admit().admitted > 0 {}
        }
        var done: [String] = []
        while done.count < 400 {
            let claim = try await q.claim()
            try await q.finish(claim)
            done.append(try #require(claim.batch))
            _ = try await q.queue.admit()
        }
        func share(_ range: Range<Int>) -> Double {
            let some = done[range]
            return Double(some.count { $0 == "newer" }) / Double(some.count)
        }
        // What the stranger saw: somewhere, a whole window of one batch, and nothing of the other.
        let windows = (0...(done.count - 40)).map { share($0..<($0 + 40)) }
        #expect(windows.max() ?? 0 > 0.95, "\(windows.max() ?? 0)")
        #expect(windows.min() ?? 1 < 0.05)
        // What is promised: none is left behind by more than a window or two.
        for end in stride(from: 160, through: 400, by: 80) {
            #expect(abs(share(0..<end) - 0.5) <= 60 / Double(end), "\(share(0..<end)) of \(end)")
        }
        #expect(abs(share(0..<400) - 0.5) < 0.13)
    }
}
