import Edits
import Testing

@testable import JobQueue

@Suite("The library of a queue") struct QueueLibraryTests {
    private let one = QueueLibrary(id: "11", name: "/srv/one")
    private let two = QueueLibrary(id: "22", name: "/srv/two")

    @Test func `is that of its first worker, and others are refused by name`() async throws {
        let q = try await QueueFixture()
        #expect(try await q.queue.library() == nil)
        try await q.queue.insist(on: one)
        try await q.queue.insist(on: one)
        let error = await #expect(throws: QueueError.self) {
            try await q.queue.insist(on: two)
        }
        #expect(error?.code == .otherLibrary)
        for word in ["11", "/srv/one", "22", "/srv/two"] {
            #expect(error?.message.contains(word) == true, "\(word)")
        }
        #expect(try await q.queue.library() == one)
        // The same library at another place is the same.
        try await q.queue.insist(on: QueueLibrary(id: "11", name: "/mnt/one"))
    }

    @Test func `is another one when an operator says so`() async throws {
        let q = try await QueueFixture()
        try await q.queue.insist(on: one)
        #expect(try await q.queue.join(two, takesPlace: true) == two)
        try await q.queue.insist(on: two)
        await #expect(throws: QueueError.self) { try await q.queue.insist(on: one) }
    }

    @Test func `remembers that a worker has seen resources, until an operator gives another one`()
        async throws
    {
        let q = try await QueueFixture()
        #expect(try await q.queue.insist(on: one).hasResources == false)
        var seeing = one
        seeing.hasResources = true
        #expect(try await q.queue.join(seeing) == seeing)
        #expect(try await q.queue.insist(on: one).hasResources)
        #expect(try await q.queue.library()?.hasResources == true)
        // The folder of another library's worker is none of this one's.
        #expect(try await q.queue.join(two, takesPlace: true) == two)
        #expect(try await q.queue.join(seeing) == two)
        #expect(try await q.queue.join(one, takesPlace: true) == one)
    }

    @Test func `is compared by the doctor with what the workers say`() async throws {
        let q = try await QueueFixture()
        try await q.queue.insist(on: one)
        func beat(_ name: String, _ library: String?, _ trouble: String? = nil) async throws {
            let info = WorkerInfo(
                name: name, slots: 2, version: "1", startedAt: "2026-01-01T00:00:00Z",
                library: library)
            _ = try await q.queue.beat(
                [], by: info.with(busy: 0, memory: nil, pressure: nil, trouble: trouble))
        }
        try await beat("good", "11")
        try await beat("old", nil)
        #expect(try await q.queue.libraryWarnings() == [])
        try await beat("stray", "22")
        try await beat("hole", "11", "the library 11 is not at /mnt.")
        let warnings = try await q.queue.diagnose().warnings
        #expect(warnings.contains { $0.contains("worker stray has the library 22") })
        #expect(
            warnings.contains { $0 == "worker hole claims no jobs: the library 11 is not at /mnt." }
        )
    }
}
