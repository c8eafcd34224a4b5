import Edits
import Foundation
import JobQueue
import MinilabTesting
import Testing

/// Redis and library of two moments: the library is put back to an earlier one.
@Suite("Versions that a restored library lacks") struct LostVersionsTests {
    private static func append(_ intensity: Double) -> String {
        #"{"mode":"append","filters":[{"name":"CISepiaTone","inputIntensity":\#(intensity)}]}"#
    }

    /// The revisions that events told of an asset, in their order.
    private static func told(_ asset: String, _ rig: Rig) async throws -> [Int] {
        try await rig.events().compactMap { entry in
            guard case .completed(let data) = entry.event.data, data.asset == asset else {
                return nil
            }
            return data.version.revision
        }
    }

    private static func end(_ worker: MinilabProcess) async throws {
        worker.kill(SIGTERM)
        #expect(try await worker.waitForEnd() == .exited(0))
    }

    @Test func `are named, made again in their order, and numbered after those that were told`()
        async throws
    {
        let rig = try await Rig()
        for name in ["a.png", "b.png", "c.png"] {
            try rig.put(name, SyntheticPhoto.png(width: 30, height: 20))
        }
        let first = try rig.worker("first")
        try await rig.xadd("a.png", edit: Self.append(0.1), id: "one")
        _ = try await rig.waitForEnds(1)
        try await Self.end(first)
        let edits = rig.library + "/edits"
        let backup = rig.folder.file("backup")
        try FileManager.default.copyItem(atPath: edits, toPath: backup)

        let second = try rig.worker("second")
        try await rig.xadd("a.png", edit: Self.append(0.2), id: "two")
        try await rig.xadd("b.png", id: "other")
        let steps = Array(repeating: #"{"name":"CISepiaTone","inputIntensity":0.5}"#, count: 30)
        let long = #"{"filters":[\#(steps.joined(separator: ","))]}"#
        try await rig.xadd("c.png", edit: long, id: "long")
        _ = try await rig.waitForEnds(4)
        try await rig.xadd("a.png", edit: Self.append(0.3), id: "three")
        _ = try await rig.waitForEnds(5)
        try await Self.end(second)
        let library = ["--library", rig.library] + rig.server.flags(as: .operator)
        let (whole, all) = try await MinilabProcess.run(["doctor"] + library)
        #expect(whole == .exited(0) && all.contains("of 3 assets"), "\(all)")

        // Sent while the workers are stopped: it arrives after those that are lost.
        try await rig.xadd("a.png", edit: Self.append(0.4), id: "four")
        try FileManager.default.removeItem(atPath: edits)
        try FileManager.default.copyItem(atPath: backup, toPath: edits)
        let (lacks, named) = try await MinilabProcess.run(["doctor"] + library)
        let jobs = named.matches(of: /lost: job (\S+) published version \d+-\d+/).map {
            String($0.1)
        }
        #expect(lacks == .exited(1) && Set(jobs) == ["two", "three", "other", "long"], "\(named)")
        let (_, dry) = try await MinilabProcess.run(["replay", "--lost", "--dry-run"] + library)
        #expect(dry.contains("4 jobs would be replayed"), "\(dry)")
        let (partly, answer) = try await MinilabProcess.run(["replay", "--lost"] + library)
        #expect(
            partly == .exited(1) && answer.contains("3 jobs replayed; 1 cannot be"), "\(answer)")
        #expect(answer.contains("long: is done, and what it asked for is not kept"), "\(answer)")
        let (_, twice) = try await MinilabProcess.run(["replay", "--lost"] + library)
        #expect(twice.contains("0 jobs replayed; 1 cannot be"), "\(twice)")

        let third = try rig.worker("third")
        try await rig.xadd("c.png", edit: long, id: "long-again")
        _ = try await rig.waitForEnds(10)
        try await Self.end(third)
        #expect(try await Self.told("a.png", rig) == [1, 2, 3, 4, 5, 6])
        #expect(try await Self.told("b.png", rig) == [1, 2])
        #expect(try await Self.told("c.png", rig) == [1, 2])
        // The filters of all four, in the order in which they were sent.
        let (_, shown) = try await MinilabProcess.run(
            ["show", "a.png", "--library", rig.library])
        let order = ["0.1", "0.2", "0.3", "0.4"].compactMap {
            shown.range(of: "inputIntensity \($0)")?.lowerBound
        }
        #expect(order.count == 4 && order == order.sorted(), "\(shown)")
        let (sound, verified) = try await MinilabProcess.run([
            "verify", "--all-versions", "--library", rig.library,
        ])
        #expect(sound == .exited(0), "\(verified)")
        let (left, rest) = try await MinilabProcess.run(["doctor"] + library)
        #expect(left == .exited(1) && rest.contains("lost: job long "), "\(rest)")
        #expect(rest.matches(of: /lost: job/).count == 1, "\(rest)")
    }

    @Test func `drafts and renditions are named and made again, too, and what was made of them`()
        async throws
    {
        let rig = try await Rig()
        let assets = ["a.png", "b.png", "c.png"]
        for name in assets { try rig.put(name, SyntheticPhoto.png(width: 30, height: 20)) }
        let first = try rig.worker("first")
        for name in assets { try await rig.xadd(name) }
        _ = try await rig.waitForEnds(3)
        try await Self.end(first)
        let edits = rig.library + "/edits"
        let backup = rig.folder.file("backup")
        try FileManager.default.copyItem(atPath: edits, toPath: backup)

        let second = try rig.worker("second")
        let invert = #"{"draft":true,"filters":[{"name":"CIColorInvert"}]}"#
        try await rig.xadd("a.png", edit: invert, id: "draft-a")
        try await rig.xadd("b.png", edit: invert, id: "draft-b")
        try await rig.xadd(
            "c.png", edit: #"{"mode":"renditions","renditions":{"web":{"box":[9,9]}}}"#,
            id: "sizes-c")
        let made = try await rig.waitForEnds(6).compactMap { event in
            if case .drafted(let data) = event.data, data.job == "draft-b" {
                data.version.id
            } else {
                nil
            }
        }
        let draft = try #require(made.first)
        try await rig.xadd(
            "b.png", edit: #"{"mode":"publish","version":"\#(draft)"}"#, id: "publish-b")
        _ = try await rig.waitForEnds(7)
        try await Self.end(second)
        let library = ["--library", rig.library] + rig.server.flags(as: .operator)
        let (whole, all) = try await MinilabProcess.run(["doctor"] + library)
        #expect(whole == .exited(0), "\(all)")

        try FileManager.default.removeItem(atPath: edits)
        try FileManager.default.copyItem(atPath: backup, toPath: edits)
        let (lacks, named) = try await MinilabProcess.run(["doctor"] + library)
        let lost = named.matches(of: /lost: job (\S+) (published|made)/).map { String($0.1) }
        #expect(lacks == .exited(1), "\(named)")
        #expect(Set(lost) == ["draft-a", "draft-b", "publish-b", "sizes-c"], "\(named)")
        let (done, answer) = try await MinilabProcess.run(["replay", "--lost"] + library)
        #expect(done == .exited(0) && answer.contains("4 jobs replayed"), "\(answer)")

        let third = try rig.worker("third")
        _ = try await rig.waitForEnds(11)
        try await Self.end(third)
        let (healthy, rest) = try await MinilabProcess.run(["doctor"] + library)
        #expect(healthy == .exited(0), "\(rest)")
        let again = try await rig.events().map(\.event)
        #expect(!again.contains { if case .failed = $0.data { true } else { false } })
        #expect(try await Self.told("b.png", rig) == [1, 2, 3])
        let (_, shown) = try await MinilabProcess.run(["show", "a.png", "--library", rig.library])
        #expect(shown.contains("draft"), "\(shown)")
    }
}
