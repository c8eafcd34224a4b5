import Edits
import Foundation
import MinilabTesting
import RenderProtocol
import Testing

@testable import JobQueue

/// PhotoKit's contract through a real Redis and real workers.
@Suite("Edits of edits") struct EditingTests {
    private let invert = #"{"mode":"append","filters":[{"name":"CIColorInvert"}]}"#

    private func filters(_ event: JobEvent?) -> [String]? {
        guard case .completed(let job)? = event?.data else { return nil }
        return job.filters?.map(\.name)
    }

    @Test(arguments: TestPoint.allCases)
    func `an edit that is appended is there once, wherever its worker was killed`(point: TestPoint)
        async throws
    {
        let rig = try await Rig()
        try rig.put("a.png", SyntheticPhoto.png(width: 64, height: 48))
        let first = try rig.worker("first")
        try await rig.xadd("a.png", edit: #"{"filters":[{"name":"CISepiaTone"}]}"#, id: "sepia")
        _ = try await rig.waitForEnds(1)
        first.kill(SIGTERM)
        _ = try await first.waitForEnd()

        try await rig.xadd("a.png", edit: invert, id: "invert")
        let victim = try rig.worker("victim", slots: 1, stopAt: point)
        let stopped = try await rig.processThatStopped(of: victim)
        victim.kill(SIGKILL)
        _ = try await victim.waitForEnd()
        if stopped != victim.pid { kill(stopped, SIGCONT) }

        let heir = try rig.worker("heir")
        let ends = try await rig.waitForEnds(2)
        #expect(filters(ends.last) == ["CISepiaTone", "CIColorInvert"])
        #expect(ends.map(\.sequence) == ["0000000001", "0000000002"])
        try await rig.checkInvariants(jobs: ["sepia", "invert"])
        heir.kill(SIGTERM)
        _ = try await heir.waitForEnd()
    }

    @Test func `edits of one asset that come at once are made one after the other, none lost`()
        async throws
    {
        let rig = try await Rig()
        try rig.put("a.png", SyntheticPhoto.png(width: 64, height: 48))
        let jobs = (1...12).map { "job-\($0)" }
        let workers = [try rig.worker("one"), try rig.worker("two")]
        for job in jobs { try await rig.xadd("a.png", edit: invert, id: job) }
        let ends = try await rig.waitForEnds(jobs.count)
        #expect(ends.compactMap(filters).map(\.count) == Array(1...12))
        #expect(ends.compactMap(\.sequence).compactMap { Int($0) } == Array(1...12))
        try await rig.checkInvariants(jobs: jobs)
        for worker in workers { worker.kill(SIGTERM) }
        for worker in workers { _ = try await worker.waitForEnd() }
    }

    @Test func `one recipe is copied to 500 photos, and copied again no pixel is decoded`()
        async throws
    {
        let rig = try await Rig()
        try rig.put("model.png", SyntheticPhoto.png(width: 16, height: 12))
        let photos = (1...500).map { "photo-\($0).png" }
        for (seed, photo) in photos.enumerated() {
            try rig.put(photo, SyntheticPhoto.png(width: 16, height: 12, seed: seed))
        }
        try await rig.xadd("model.png", id: "model")
        let worker = try rig.worker("renders")
        _ = try await rig.waitForEnds(1)
        let copy = #"{"mode":"copyEdit","from":"model.png"}"#
        for photo in photos { try await rig.xadd(photo, edit: copy, id: "first-\(photo)") }
        try await rig.waitForCount("completed", 501)
        let copied = try await rig.events().map(\.event).dropFirst()
        #expect(copied.allSatisfy { filters($0) == ["CISepiaTone"] })
        worker.kill(SIGTERM)
        _ = try await worker.waitForEnd()

        // This worker has nothing that could decode a pixel.
        let idle = try rig.worker("cannot-render", flags: ["--render-executable", "/bin/false"])
        for photo in photos { try await rig.xadd(photo, edit: copy, id: "again-\(photo)") }
        try await rig.waitForCount("unchanged", 500)
        let events = try await rig.events().map(\.event)
        #expect(events.count == 1001)
        #expect(
            events.count { event in
                if case .unchanged = event.data { true } else { false }
            } == 500)
        #expect(try rig.versions("photo-7.png").count == 1)
        idle.kill(SIGTERM)
        _ = try await idle.waitForEnd()
    }

    @Test func `a draft is prepared, told, published, undone and reverted`() async throws {
        let rig = try await Rig()
        try rig.put("a.png", SyntheticPhoto.png(width: 64, height: 48))
        let worker = try rig.worker("w")
        func send(_ edit: String, id: String) async throws -> JobEvent {
            try await rig.xadd("a.png", edit: edit, id: id)
            return try await eventually("\(id) ends") {
                try await rig.events().map(\.event).last { $0.id.hasPrefix("photos/\(id)/") }
            }
        }
        let drafted = try await send(
            #"{"filters":[{"name":"CISepiaTone"}],"draft":true}"#, id: "prepare")
        guard case .drafted(let draft) = drafted.data else {
            Issue.record("\(drafted)")
            return
        }
        #expect(drafted.sequence == nil)
        #expect(draft.version.path.contains("/drafts/"))
        #expect(try rig.current("a.png") == nil)
        #expect(FileManager.default.fileExists(atPath: rig.library + "/" + draft.version.path))

        let published = try await send(#"{"mode":"publish"}"#, id: "publish")
        guard case .completed(let version) = published.data else {
            Issue.record("\(published)")
            return
        }
        #expect(published.sequence == "0000000001")
        #expect(version.render == draft.render)
        #expect(version.timings.renderMilliseconds == 0)
        #expect(try rig.current("a.png") == "versions/\(version.version.id)")

        for (number, mode) in ["undo", "redo", "revert"].enumerated() {
            let event = try await send(#"{"mode":"\#(mode)"}"#, id: mode)
            guard case .completed(let moved) = event.data else {
                Issue.record("\(event)")
                return
            }
            #expect(moved.version.revision == number + 2)
            #expect(moved.render == (mode == "redo" ? draft.render : nil))
            if mode != "redo" { #expect(moved.version.path == "originals/a.png") }
        }
        let again = try await send(#"{"mode":"revert"}"#, id: "revert-again")
        guard case .unchanged(let unchanged) = again.data else {
            Issue.record("\(again)")
            return
        }
        #expect(unchanged.reason == "the original is current")
        try await rig.checkInvariants(
            jobs: ["prepare", "publish", "undo", "redo", "revert", "revert-again"])
        worker.kill(SIGTERM)
        _ = try await worker.waitForEnd()
    }

    @Test func `what cannot be done to an asset as it is ends dead with its code`() async throws {
        let rig = try await Rig()
        try rig.put("a.png", SyntheticPhoto.png(width: 64, height: 48))
        try rig.put("a.AAE", Data("hello".utf8))
        let inline = { (identifier: String, data: String) in
            #"{"mode":"import","adjustmentData":{"formatIdentifier":"\#(identifier)","#
                + #""formatVersion":"1.0","data":"\#(data)"}}"#
        }
        let cases: [(String, FailureCode)] = [
            (#"{"mode":"amend","changes":[{"step":0,"remove":true}]}"#, .missingVersion),
            (#"{"mode":"publish"}"#, .missingDraft),
            (#"{"mode":"import","sidecar":"a.AAE"}"#, .badSidecar),
            (#"{"mode":"import","sidecar":"b.AAE"}"#, .missingAsset),
            (inline("com.example.unheard.of", "AAAA"), .cannotHandleAdjustmentData),
            (inline("com.apple.photo", "AAAA"), .adjustmentDataUndecodable),
        ]
        let worker = try rig.worker("w")
        for (number, (edit, _)) in cases.enumerated() {
            try await rig.xadd("a.png", edit: edit, id: "job-\(number)")
        }
        _ = try await rig.waitForEnds(cases.count)
        for (number, (edit, code)) in cases.enumerated() {
            let record = try #require(try await rig.queue.record(of: "job-\(number)"))
            #expect(record.state == .dead, "\(edit)")
            #expect(record.code == code, "\(edit): \(record.message ?? "")")
            #expect(record.attempts == 1)
        }
        #expect(try rig.current("a.png") == nil)
        worker.kill(SIGTERM)
        _ = try await worker.waitForEnd()
    }
}
