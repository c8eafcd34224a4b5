import Edits
import Foundation
import MinilabTesting
import RenderProtocol
import Synchronization
import Telemetry
import Testing

@testable import Editing
@testable import Library
@testable import RenderPool

/// Edits that come to their turn in another order than they arrived.
@Suite("The order of an asset's edits") struct OrderTests {
    private static let sepia = #"{"filters":[{"name":"CISepiaTone"}]}"#
    private static let invert = #"{"filters":[{"name":"CIColorInvert"}]}"#
    private static let append = #"{"mode":"append","filters":[{"name":"CIColorInvert"}]}"#
    private static let draft = #"{"filters":[{"name":"CISepiaTone"}],"draft":true}"#
    private let renders = Renders()
    private let bench: Workbench
    private let asset: AssetPath

    init() throws {
        bench = try Workbench(inMemory: true, metrics: renders.metrics)
        asset = try bench.put("a.png", SyntheticPhoto.png(width: 32, height: 24))
    }

    /// Does an edit that arrived at this time.
    @discardableResult
    private func run(
        _ edit: String, at arrival: Int?, queue: String = "photos", queueTime: Int? = nil
    ) async throws -> AssetEditor.Outcome {
        var job = bench.job(queue: queue, arrival: arrival)
        job.queueTime = queueTime
        return try #require(try await bench.run(Edit(json: edit), asset, job))
    }

    private func superseding(_ outcome: AssetEditor.Outcome) throws -> Provenance {
        guard case .superseded(let by, let reason) = outcome else {
            throw Failure(.internalError, "not superseded: \(outcome)")
        }
        #expect(reason.contains(by.version) && reason.contains(by.author.job))
        return by
    }

    @Test(arguments: [
        sepia, #"{"mode":"revert"}"#, #"{"mode":"render"}"#,
        #"{"mode":"copyEdit","from":"b.png"}"#,
    ])
    func `an edit that takes the place of the last one is superseded by one that arrived later`(
        edit: String
    ) async throws {
        try await run(Self.invert, at: 20)
        let (before, rendered) = (try await bench.current(asset), renders.count)
        #expect(try superseding(await run(edit, at: 10)) == before)
        #expect(try await bench.current(asset) == before)
        #expect(renders.count == rendered)
        #expect(try bench.library.staging.sweepable(in: "photos").isEmpty)
        // What arrived at the same time, or later, is done.
        try await run(Self.sepia, at: 20)
        try await run(Self.invert, at: 21)
        #expect(try await bench.current(asset)?.revision == 3)
        await bench.pool.close()
    }

    @Test(arguments: [
        append, #"{"mode":"amend","changes":[{"step":0,"remove":true}]}"#, #"{"mode":"undo"}"#,
        #"{"mode":"redo"}"#, #"{"mode":"publish"}"#,
    ])
    func `an edit that changes what was there fails when an edit that arrived later was made`(
        edit: String
    ) async throws {
        try await run(Self.invert, at: 5)
        try await run(Self.draft, at: 6)
        try await run(Self.sepia, at: 20)
        let (before, rendered) = (try await bench.current(asset), renders.count)
        let failure = try await #require(throws: Failure.self) { try await run(edit, at: 10) }
        #expect(failure.code == .overtaken && failure.code.isPermanent)
        #expect(failure.message.contains("1970-01-01T00:00:00.000Z"))
        #expect(failure.message.contains(before?.version ?? "?"))
        #expect(try await bench.current(asset) == before)
        #expect(renders.count == rendered)
        await bench.pool.close()
    }

    /// Redis was replaced by an empty server, or by that of a backup.
    @Test func `arrivals that are ahead of the queue's time are those of a clock that is gone`()
        async throws
    {
        let (second, ahead) = (1_000_000, 60_000_000)
        try await run(Self.invert, at: ahead)
        try await run(Self.draft, at: ahead + 1)
        // Another queue's clock may be some seconds ahead.
        let late = try await run(Self.sepia, at: 50 * second, queueTime: 51 * second)
        #expect(try await superseding(late) == bench.current(asset))
        try await run(Self.sepia, at: 10 * second, queueTime: 11 * second)
        #expect(try await bench.current(asset)?.author.arrival == ahead + 2)
        try await run(Self.append, at: 12 * second, queueTime: 13 * second)
        #expect(try await bench.current(asset)?.author.arrival == ahead + 3)
        #expect(try await bench.current(asset)?.revision == 3)
        await bench.pool.close()
    }

    @Test func `an edit that changes nothing counts as the one that arrived last`() async throws {
        try await run(Self.sepia, at: 5)
        guard case .unchanged = try await run(Self.sepia, at: 20) else {
            throw Failure(.internalError, "the same edit again changed something")
        }
        let (before, rendered) = (try await bench.current(asset), renders.count)
        #expect(try superseding(await run(Self.invert, at: 10)) == before)
        let late = try await #require(throws: Failure.self) {
            try await run(#"{"mode":"undo"}"#, at: 10)
        }
        #expect(late.code == .overtaken && late.message.contains("1970-01-01T00:00:00.000Z"))
        // An edit that arrived before the confirmation takes nothing back.
        _ = try await run(Self.sepia, at: 12)
        #expect(try superseding(await run(Self.invert, at: 19)) == before)
        #expect(renders.count == rendered)
        let found = try await bench.library.verify(
            asset, allVersions: true, editors: bench.editors, now: .now)
        #expect(found.report.isSound, "\(found.report)")
        // It says nothing of the next version.
        try await run(Self.invert, at: 21)
        try await run(Self.sepia, at: 22)
        #expect(try await bench.current(asset)?.revision == 3)
        await bench.pool.close()
    }

    @Test func `an edit that is confirmed while an older one renders stays`() async throws {
        try await run(Self.sepia, at: 5)
        let editor = AssetEditor(
            library: bench.library, pool: bench.pool, editors: bench.editors,
            limits: RenderLimits(), resources: nil)
        let job = bench.job(arrival: 10)
        guard
            case .made(let version, _) = try await editor.make(
                Edit(json: Self.invert), of: asset, job)
        else { throw Failure(.internalError, "nothing was made") }
        _ = try await run(Self.sepia, at: 20)
        let name = try #require(VersionName(version.version))
        let publication = try await bench.library.publish(name, of: asset, from: job.staged)
        guard case .conflict = publication else {
            throw Failure(.internalError, "\(publication)")
        }
        try bench.library.staging.discard(job.staged)
        _ = try superseding(await run(Self.invert, at: 10))
        await bench.pool.close()
    }

    @Test func `a version without a time is older than anything, also another queue's counts`()
        async throws
    {
        try await run(Self.invert, at: nil)
        try await run(Self.append, at: 1)
        #expect(try await bench.current(asset)?.revision == 2)
        try await run(Self.invert, at: 20, queue: "other")
        _ = try superseding(await run(Self.sepia, at: 10))
        await bench.pool.close()
    }

    @Test func `a job that Redis has forgotten tells of its version, whatever arrived later`()
        async throws
    {
        let edit = try Edit(json: Self.sepia)
        let first = bench.job("a", arrival: 10)
        guard case .made(let version, _) = try await bench.run(edit, asset, first) else {
            throw Failure(.internalError, "nothing was made")
        }
        try await run(Self.invert, at: 20)
        let again = try await bench.run(edit, asset, bench.job("a", arrival: 10))
        guard case .made(version, _) = again else {
            throw Failure(.internalError, "made anew: \(String(describing: again))")
        }
        #expect(try await bench.current(asset)?.author.arrival == 20)
        await bench.pool.close()
    }

    @Test func `of drafts the one that arrived last stays, beside whatever is published`()
        async throws
    {
        try await run(Self.invert, at: 30)
        try await run(Self.draft, at: 10)
        let kept = try await bench.library.state(of: asset).draft
        #expect(kept?.author.arrival == 10)
        _ = try superseding(await run(Self.draft, at: 5))
        #expect(try superseding(await run(#"{"mode":"discard"}"#, at: 9)) == kept)
        let late = try await #require(throws: Failure.self) {
            try await run(#"{"mode":"publish"}"#, at: 9)
        }
        #expect(late.code == .overtaken)
        #expect(try await bench.library.state(of: asset).draft == kept)
        try await run(#"{"mode":"discard"}"#, at: 11)
        #expect(try await bench.library.state(of: asset).draft == nil)
        await bench.pool.close()
    }

    @Test(arguments: [(sepia, invert), (draft, draft)])
    func `an edit that is overtaken between its render and its publication ends the same way`(
        edit: String, other: String
    ) async throws {
        let editor = AssetEditor(
            library: bench.library, pool: bench.pool, editors: bench.editors,
            limits: RenderLimits(), resources: nil)
        let job = bench.job(arrival: 10)
        guard case .made(let version, _) = try await editor.make(Edit(json: edit), of: asset, job)
        else { throw Failure(.internalError, "nothing was made") }
        try await run(other, at: 20)
        let name = try #require(VersionName(version.version))
        let publication = try await bench.library.publish(name, of: asset, from: job.staged)
        guard case .conflict = publication else {
            throw Failure(.internalError, "\(publication)")
        }
        try bench.library.staging.discard(job.staged)
        #expect(try superseding(await run(edit, at: 10)).author.arrival == 20)
        await bench.pool.close()
    }
}

/// Counts renders.
private final class Renders: Sendable {
    private let rendered = Mutex(0)
    var count: Int { rendered.withLock { $0 } }
    var metrics: RenderMetrics {
        RenderMetrics(
            Metrics { [self] metric, _, _ in
                if metric == "minilab_render_seconds" { rendered.withLock { $0 += 1 } }
            })
    }
}
