import Edits
import Foundation
import JobQueue
import MinilabTesting
import Testing

@Suite("A worker with little memory") struct MemoryTests {
    @Test
    func `does all that fits one after the other, and what never fits is dead with the figure`()
        async throws
    {
        let rig = try await Rig()
        for index in 0..<5 {
            try rig.put("\(index).png", SyntheticPhoto.png(width: 300, height: 200, seed: index))
            try await rig.xadd("\(index).png", id: "small-\(index)")
        }
        try rig.put("big.png", SyntheticPhoto.png(width: 1600, height: 1200))
        // Its encoder holds the picture whole.
        try await rig.xadd(
            "big.png", edit: #"{"filters":[],"output":{"format":"jxl"}}"#, id: "big")
        let worker = try rig.worker(
            "w", slots: 4, flags: ["--memory", "76M", "--status-port", "0"])
        let ends = try await rig.waitForEnds(6)
        for end in ends {
            switch end.data {
            case .completed(let job): #expect(job.job.hasPrefix("small-"))
            case .failed(let job):
                #expect(job.job == "big")
                #expect(job.error.code == .exceedsMemoryBudget)
            default: Issue.record("\(end)")
            }
        }
        // Not tried again: it would end the same way.
        #expect(try await rig.queue.record(of: "big")?.attempts == 1)
        let memory = try await eventually("the worker tells its memory") {
            let workers = try await rig.queue.status().workers
            return workers.first?.memory
        }
        #expect(memory.budgetBytes == 76 << 20)
        let top = try await MinilabProcess.run(["top", "--once"] + rig.server.flags(as: .operator))
        #expect(top.output.contains("of 80 MB"))
        #expect(worker.output.contains("80 MB for render children"))
        worker.kill(SIGTERM)
        #expect(try await worker.waitForEnd() == .exited(0))

        // Where there is more, the dead job is done.
        #expect(try await rig.queue.replay(["big"]).count == 1)
        let larger = try rig.worker("large", flags: ["--memory", "4G"])
        let all = try await rig.waitForEnds(7)
        guard case .completed(let job)? = all.last?.data else {
            Issue.record("\(all)")
            return
        }
        #expect(job.job == "big")
        larger.kill(SIGTERM)
        #expect(try await larger.waitForEnd() == .exited(0))
    }

    @Test func `that cannot hold one child does not start and says why`() async throws {
        let rig = try await Rig()
        let group = rig.folder.file("kernel/sys/fs/cgroup/a")
        try FileManager.default.createDirectory(
            atPath: group, withIntermediateDirectories: true)
        try FileManager.default.createDirectory(
            atPath: rig.folder.file("kernel/proc/self"), withIntermediateDirectories: true)
        for (file, text) in [
            ("proc/self/cgroup", "0::/a\n"), ("sys/fs/cgroup/a/memory.max", "100000000\n"),
            ("sys/fs/cgroup/a/memory.current", "20000000\n"),
        ] {
            try Data(text.utf8).write(to: URL(filePath: rig.folder.file("kernel/" + file)))
        }
        let worker = try rig.worker(
            "w", flags: ["--memory-root", rig.folder.file("kernel")])
        #expect(try await worker.waitForEnd() == .exited(1))
        #expect(worker.output.contains("the control group's limit is 100 MB"))
        #expect(worker.output.contains("--memory"))
    }
}
