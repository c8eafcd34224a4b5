import Foundation
import JobQueue
import Testing

@Suite("What a worker says of itself") struct WorkerInfoTests {
    @Test func `one of an older version, which says nothing of memory, is read`() throws {
        let info = try JSONDecoder().decode(
            WorkerInfo.self,
            from: Data(
                #"{"name":"w","slots":2,"busy":1,"version":"1.0.0","startedAt":"2026-01-01T00:00:00Z"}"#
                    .utf8))
        #expect(info.busy == 1)
        #expect(info.memory == nil)
    }

    @Test func `memory comes back as it was written, in bytes and in words`() throws {
        let memory = WorkerMemory(
            budgetBytes: 384_000_000, grantedBytes: 120_400_000, waiting: 2)
        let info = WorkerInfo(
            name: "w", slots: 2, version: "1", startedAt: "2026-01-01T00:00:00Z", memory: memory)
        let again = try JSONDecoder().decode(WorkerInfo.self, from: JSONEncoder().encode(info))
        #expect(again == info)
        #expect(memory.description == "120 of 384 MB, 2 wait")
        #expect(
            WorkerMemory(budgetBytes: 64 << 20, grantedBytes: 0, waiting: 0).description
                == "0 of 67 MB")
    }
}
