import Edits
import Foundation
import MinilabTesting
import SystemPackage
import Testing

@testable import Editing
@testable import Library
@testable import RenderPool

/// Redis lost its last second: jobs that are done are run again, on what they have made.
@Suite("A job that is run again after Redis has forgotten it") struct OnceTests {
    private static let append = #"{"mode":"append","filters":[{"name":"CIColorInvert"}]}"#
    private static let draft = #"{"filters":[{"name":"CISepiaTone"}],"draft":true}"#
    private let bench: Workbench
    private let asset: AssetPath

    init() throws {
        bench = try Workbench(inMemory: true)
        asset = try bench.put("a.png", SyntheticPhoto.png(width: 32, height: 24))
    }

    /// Runs a job, each time under a hold of its own.
    private func run(_ job: String, _ edit: String) async throws -> AssetEditor.Outcome {
        let outcome = try await bench.run(Edit(json: edit), asset, bench.job(job))
        return try #require(outcome)
    }

    private func made(_ outcome: AssetEditor.Outcome) throws -> Provenance {
        guard case .made(let version, _) = outcome else {
            throw Failure(.internalError, "nothing was made: \(outcome)")
        }
        return version
    }

    private func filters() async throws -> [String] {
        try await bench.current(asset)?.content?.recipe?.filters.map(\.name) ?? []
    }

    @Test func `does not append twice, and tells of the version that stands`() async throws {
        let first = try made(try await run("a", Self.append))
        let second = try made(try await run("b", Self.append))
        for (job, version) in [("a", first), ("b", second), ("b", second)] {
            #expect(try made(try await run(job, Self.append)) == version)
        }
        #expect(try await filters() == ["CIColorInvert", "CIColorInvert"])
        #expect(try await bench.current(asset) == second)
        #expect(try bench.library.staging.sweepable(in: "photos").isEmpty)
        await bench.pool.close()
    }

    @Test func `does not undo twice, nor redo, revert or publish`() async throws {
        for job in ["a", "b", "c"] { _ = try await run(job, Self.append) }
        let undone = try made(try await run("undo", #"{"mode":"undo"}"#))
        for _ in 0..<2 {
            #expect(try made(try await run("undo", #"{"mode":"undo"}"#)) == undone)
        }
        #expect(try await filters().count == 2)
        let redone = try made(try await run("redo", #"{"mode":"redo"}"#))
        #expect(try made(try await run("undo", #"{"mode":"undo"}"#)) == undone)
        #expect(try made(try await run("redo", #"{"mode":"redo"}"#)) == redone)
        #expect(try await filters().count == 3)
        _ = try await run("revert", #"{"mode":"revert"}"#)
        let again = try made(try await run("d", Self.append))
        _ = try await run("revert", #"{"mode":"revert"}"#)
        #expect(try await bench.current(asset) == again)
        #expect(try await bench.library.history(of: asset).count == 7)
        await bench.pool.close()
    }

    @Test func `prepares no second draft of one that was published`() async throws {
        _ = try await run("draft", Self.draft)
        let published = try made(try await run("publish", #"{"mode":"publish"}"#))
        guard case .unchanged(let reason, let current) = try await run("draft", Self.draft) else {
            Issue.record("another draft was made")
            return
        }
        #expect(reason.contains("not kept any more") && current == published)
        #expect(try made(try await run("publish", #"{"mode":"publish"}"#)) == published)
        #expect(try await bench.library.state(of: asset).draft == nil)
        await bench.pool.close()
    }

    @Test func `is another job when it was replayed from the dead, or has another edit`()
        async throws
    {
        _ = try await run("a", Self.append)
        let edit = try Edit(json: Self.append)
        _ = try await bench.run(edit, asset, bench.job("a", generation: 2))
        #expect(try await filters().count == 2)
        // Another server's, whose millisecond was the same.
        _ = try await run(
            "a", #"{"mode":"append","filters":[{"name":"CISepiaTone","intensity":0.5}]}"#)
        #expect(try await filters().count == 3)
        _ = try await bench.run(edit, asset, bench.job("a", queue: "other"))
        #expect(try await filters().count == 4)
        await bench.pool.close()
    }

    @Test func `that two workers do at once is published once`() async throws {
        // Both have looked before either publishes: what is published is compared again.
        let (bench, asset) = (bench, asset)
        let edit = try Edit(json: Self.append)
        try await withThrowingTaskGroup { group in
            for _ in 0..<4 {
                group.addTask {
                    while try await bench.run(edit, asset, bench.job("a")) == nil {}
                }
            }
            try await group.waitForAll()
        }
        #expect(try await bench.library.history(of: asset).count == 1)
        #expect(try await filters() == ["CIColorInvert"])
        #expect(try bench.library.staging.sweepable(in: "photos").isEmpty)
        await bench.pool.close()
    }

    @Test func `tells the renditions that it made, and not those of later jobs`() async throws {
        let own = #""a":{"box":[9,9]},"b":{"box":[8,8]}"#
        let edit = try Edit(
            json: #"{"filters":[{"name":"CISepiaTone"}],"renditions":{\#(own)}}"#)
        func made(_ job: AssetEditor.Job) async throws -> MadeRenditions {
            guard case .made(_, let renditions)? = try await bench.run(edit, asset, job) else {
                throw Failure(.internalError, "nothing was made")
            }
            return renditions
        }
        let first = try await made(bench.job("one", arrival: 5))
        #expect(first.list.names == ["a", "b"] && first.failures.isEmpty)
        let later = try Edit(
            json: #"{"mode":"renditions","renditions":{"b":{"box":[7,7]},"c":{"box":[6,6]}}}"#)
        _ = try await bench.run(later, asset, bench.job("later", arrival: 9))
        let again = try await made(bench.job("one", arrival: 5))
        #expect(again.list.renditions == first.list.renditions.filter { $0.key == "a" })
        #expect(Array(again.failures.keys) == ["b"])
        let failure = try #require(again.failures["b"])
        #expect(failure.code == .overtaken && failure.message.contains("later"), "\(failure)")
        await bench.pool.close()
    }
}
