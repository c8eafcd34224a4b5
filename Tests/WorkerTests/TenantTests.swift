import Edits
import Foundation
import Glibc
import Logging
import MinilabTesting
import RenderProtocol
import SystemPackage
import Synchronization
import Testing

@testable import RenderPool

/// Whose photos a child may see one after the other.
@Suite("Render children of tenants") struct TenantTests {
    /// A value that tests and a pool share.
    private final class Shared<Value: Sendable>: Sendable {
        let value: Mutex<Value>

        init(_ value: Value) { self.value = Mutex(value) }
    }

    /// A pool whose children a script plays; each writes down its process.
    private struct Place {
        let folder: TemporaryFolder
        let pool: RenderPool
        /// The reports of children that cannot be started.
        let troubles = Shared<[String?]>([])

        init(_ lines: String) throws {
            ignoreBrokenPipes()
            folder = try TemporaryFolder()
            let path = try folder.script("child", "echo $$ >> \"$0.pids\"\n\(lines)")
            pool = RenderPool(
                settings: RenderSettings(executable: FilePath(path)),
                logger: Logger(label: "test"),
                trouble: { [troubles] trouble in troubles.value.withLock { $0.append(trouble) } })
        }

        var pids: [pid_t] {
            folder.text(of: "child.pids").split(separator: "\n").compactMap { pid_t($0) }
        }

        func draw(for owner: Owner) async throws {
            try await pool.lend(to: Borrower(owner)) { child in
                try await child.draw(ScriptedReply.sheet, RenderFiles())
            }
        }
    }

    @Test func `a child that served one never serves another`() async throws {
        let place = try Place("while read line; do \(ScriptedReply.rendered); done")
        let (a, b) = (Owner.tenant(try JobID("a")), Owner.tenant(try JobID("b")))
        // Of a photo whose tenant is not known, a child serves that photo alone.
        let owners = [a, b, .operator, .photo("a")]
        for owner in owners + owners { try await place.draw(for: owner) }
        #expect(place.pids.count == owners.count)
        await place.pool.close()
        #expect(place.pids.allSatisfy { kill($0, 0) != 0 })
    }

    @Test
    func `a child that cannot be started is told, costs the idle ones, and is tried until it can`()
        async throws
    {
        let place = try Place("while read line; do \(ScriptedReply.rendered); done")
        try await place.draw(for: .photo("a"))
        let (path, away) = (place.folder.file("child"), place.folder.file("away"))
        #expect(rename(path, away) == 0)
        let failure = await #expect(throws: Failure.self) { try await place.draw(for: .photo("b")) }
        #expect(failure?.code == .rendererUnavailable)
        #expect(await place.pool.idle.isEmpty)
        #expect(place.pool.gate.free == place.pool.gate.budget.bytes)
        #expect(place.troubles.value.withLock { $0.map { $0 == nil } } == [false])
        #expect(rename(away, path) == 0)
        try await eventually("children can be started again") {
            place.troubles.value.withLock { $0.count == 2 && $0[1] == nil } ? () : nil
        }
        try await place.draw(for: .photo("b"))
        await place.pool.close()
    }

    @Test func `a photo that no decoder opened costs no child`() async throws {
        let refused = ScriptedReply.reply(
            #"{"refused":{"_0":{"code":"emptyFile","message":"m"}}}"#)
        let place = try Place("while read line; do \(refused); done")
        let request = try PhotoRequest(
            recipe: Recipe(filters: []), limits: RenderLimits())
        for _ in 0..<3 {
            let failure = await #expect(throws: Failure.self) {
                _ = try await place.pool.inspect(
                    request, RenderFiles(), for: Borrower(.tenant(try JobID("a"))))
            }
            #expect(failure?.code == .emptyFile)
        }
        #expect(place.pids.count == 1)
        #expect(place.pool.gate.free == place.pool.gate.budget.bytes)
        await place.pool.close()
    }

    @Test func `a child that has answered a failure never serves again`() async throws {
        let failed = ScriptedReply.reply(
            #"{"failed":{"_0":{"code":"damagedPhoto","message":"m"}}}"#)
        let place = try Place("while read line; do \(failed); done")
        for _ in 0..<3 {
            let failure = await #expect(throws: Failure.self) {
                try await place.draw(for: .operator)
            }
            #expect(failure?.code == .damagedPhoto)
            #expect(await place.pool.idle.isEmpty)
        }
        #expect(Set(place.pids).count == 3)
        #expect(place.pool.gate.free == place.pool.gate.budget.bytes)
        await place.pool.close()
    }

    @Test func `hundreds of children that die leave no descriptor and no process`() async throws {
        let place = try Place("read line; exit 3")
        func open() throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
        }
        for _ in 0..<3 {
            await #expect(throws: Failure.self) { try await place.draw(for: .operator) }
        }
        let before = try open()
        for _ in 0..<200 {
            await #expect(throws: Failure.self) { try await place.draw(for: .operator) }
        }
        // A child has two pipes, its process and its status. Other tests' children at rest keep 40 times as many.
        try await eventually("the descriptors of 200 children are closed") {
            try open() < before + 600 ? true : nil
        }
        #expect(place.pids.count == 203)
        #expect(place.pids.allSatisfy { kill($0, 0) != 0 })
        #expect(place.pool.gate.free == place.pool.gate.budget.bytes)
        await place.pool.close()
    }
}
