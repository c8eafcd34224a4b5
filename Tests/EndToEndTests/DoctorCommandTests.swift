import JobQueue
import MinilabTesting
import Redis
import Testing

@Suite("minilab doctor") struct DoctorCommandTests {
    @Test func `ends with 0 when all is well, 1 when something is wrong, 0 when it was mended`()
        async throws
    {
        let rig = try await Rig()
        try await rig.xadd("a.jpg", edit: "{}", id: "a")
        _ = try await rig.queue.admit()
        let redis = rig.server.flags(as: .operator)
        let (well, said) = try await MinilabProcess.run(["doctor"] + redis)
        #expect(well == .exited(0), "\(said)")
        #expect(said.contains("nothing is wrong, with "), "\(said)")
        #expect(said.contains("warning: jobs are waiting, but no worker has sent a heartbeat"))

        let (looked, seen) = try await MinilabProcess.run(
            ["doctor"] + rig.server.flags(as: .gateway))
        #expect(looked == .exited(0), "\(seen)")
        #expect(seen.contains("warning: user gateway may look at the queue"), "\(seen)")

        _ = try await rig.redis.send(["ZREM", "minilab:{photos}:ready:normal:default", "a"])
        let (wrong, what) = try await MinilabProcess.run(["doctor"] + redis)
        #expect(wrong == .exited(1))
        #expect(what.contains("wrong: job a is not in ready:normal:default"))
        #expect(what.contains("minilab doctor --repair"))

        let (mended, how) = try await MinilabProcess.run(["doctor", "--repair", "--json"] + redis)
        #expect(mended == .exited(0), "\(how)")
        #expect(how.contains(#""kind" : "notInPlace""#))
        #expect(try await rig.queue.claim(by: "w", count: 1).jobs.map(\.job) == ["a"])
    }
}
