import Foundation
import MinilabTesting
import Testing

@testable import JobQueue

/// Workers and the places that they take for libraries.
@Suite("A worker's library") struct PlaceTests {
    @Test func `is refused where there is none, and nothing is made there`() async throws {
        let rig = try await Rig()
        let empty = rig.folder.file("mnt")
        try FileManager.default.createDirectory(
            atPath: empty, withIntermediateDirectories: true)
        let (ending, words) = try await MinilabProcess.run(
            [
                "worker", "--library", empty,
            ] + rig.server.flags(as: .worker))
        #expect(ending != .exited(0))
        #expect(words.contains("there is no library at"), "\(words)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: empty) == [])
        #expect(try await rig.queue.library() == nil)
        let (made, text) = try await MinilabProcess.run(["library", "create", "--library", empty])
        #expect(made == .exited(0))
        #expect(text.contains("library "))
        let again = try await MinilabProcess.run(["library", "create", "--library", empty])
        #expect(again.output == text)
    }

    @Test func `is refused when the queue has another one, until it is given to the queue`()
        async throws
    {
        let rig = try await Rig()
        let first = try rig.worker("first")
        let own = try await eventually("the queue has a library") {
            try await rig.queue.library()
        }
        let other = rig.folder.file("other")
        let create = ["library", "create", "--library", other]
        #expect(try await MinilabProcess.run(create).ending == .exited(0))
        let words = ["worker", "--library", other] + rig.server.flags(as: .worker)
        let (ending, output) = try await MinilabProcess.run(words)
        #expect(ending != .exited(0))
        #expect(output.contains(own.id) && output.contains(own.name), "\(output)")
        let use = ["library", "use", "--library", other] + rig.server.flags(as: .operator)
        let (used, text) = try await MinilabProcess.run(use)
        #expect(used == .exited(0), "\(text)")
        // The first worker notices, and claims no more.
        _ = try await eventually("the doctor names the first worker") {
            try await rig.queue.libraryWarnings().contains { $0.contains("worker first") }
                ? true : nil
        }
        first.kill(SIGTERM)
        _ = try await first.waitForEnd()
    }
}
