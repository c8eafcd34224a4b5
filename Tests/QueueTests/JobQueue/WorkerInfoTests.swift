import Foundation
import Testing

@testable import JobQueue

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

    @Test func `the doctor names what workers of one queue differ in`() {
        func worker(_ name: String, _ machine: [String: String]?, megabytes: Int = 2000)
            -> WorkerInfo
        {
            WorkerInfo(
                name: name, slots: 2, version: "1", startedAt: "",
                memory: WorkerMemory(
                    budgetBytes: megabytes * 1_000_000, grantedBytes: 0, waiting: 0),
                machine: machine)
        }
        let same = ["resources": "yes"]
        #expect(JobQueue.differences(of: [worker("a", same), worker("b", same)]).isEmpty)
        // One of an older version tells nothing.
        #expect(JobQueue.differences(of: [worker("a", same), worker("b", nil)]).isEmpty)
        let found = JobQueue.differences(of: [
            worker("a", same), worker("b", same),
            worker("odd", ["render.pixels": "1000"], megabytes: 115),
        ])
        #expect(found.count == 3, "\(found)")
        #expect(found[0].contains("render.pixels: 1000 at odd; as usual at a, b"), "\(found)")
        #expect(found[1].contains("resources: as usual at odd; yes at a, b"), "\(found)")
        #expect(
            found[2].contains("odd may use 115 MB, and a 2000 MB")
                || found[2].contains("and b 2000 MB"))
        // A machine of somewhat more is nothing that anybody has to know.
        #expect(
            JobQueue.differences(of: [
                worker("a", same, megabytes: 1000), worker("b", same, megabytes: 1900),
            ]).isEmpty)
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
