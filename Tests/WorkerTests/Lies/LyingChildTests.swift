import Edits
import Files
import Foundation
import Glibc
import MinilabTesting
import RenderProtocol
import SystemPackage
import Testing

@testable import Editing
@testable import Library
@testable import RenderPool

/// Each lie of a render child costs its own job one attempt, and nobody anything else.
@Suite("A render child that lies", .timeLimit(.minutes(10))) struct LyingChildTests {
    @Test(arguments: Lies.plans + Lies.lines + Lies.files + Lies.misbehaviours)
    func `is not believed, and what it made is not used`(lie: TestLie) async throws {
        let place = try await LyingBench(lie)
        try await expect(.untrustedRender, place)
    }

    @Test(arguments: [
        (TestLie.misbehaviour(.wait), FailureCode.renderTimedOut),
        (.misbehaviour(.exit), .renderCrashed),
    ])
    func `that gives no answer is told apart`(lie: TestLie, code: FailureCode) async throws {
        let place = try await LyingBench(lie)
        try await expect(code, place)
    }

    /// The first attempt fails with a code and changes nothing; the second one has a child of its own and is published.
    private func expect(
        _ code: FailureCode, _ place: LyingBench,
        location: SourceLocation = #_sourceLocation
    ) async throws {
        let failure = await #expect(throws: Failure.self, sourceLocation: location) {
            _ = try await place.attempt()
        }
        #expect(failure?.code == code, "\(String(describing: failure))", sourceLocation: location)
        #expect(try place.differences() == [], sourceLocation: location)
        let free = place.pool.gate.free
        let version = try await place.attempt()
        #expect(version.content?.render.size == LyingBench.size, sourceLocation: location)
        #expect(version.content?.reusedFrom == nil, sourceLocation: location)
        await place.pool.close()
        #expect(place.pids.count == 2, sourceLocation: location)
        #expect(place.pids.allSatisfy { kill($0, 0) != 0 }, sourceLocation: location)
        #expect(free == place.pool.gate.budget.bytes, sourceLocation: location)
    }

    @Test func `that answers twice spoils the next job of its tenant, and no other`() async throws {
        let place = try await LyingBench(.misbehaviour(.answerTwice))
        _ = try await place.attempt(tenant: "a")
        let failure = await #expect(throws: Failure.self) {
            try await place.attempt(
                nil, #"{"filters":[{"name":"CIColorInvert"}]}"#, tenant: "a")
        }
        #expect(failure?.code == .untrustedRender)
        _ = try await place.attempt(place.other, tenant: "b")
        await place.pool.close()
    }

    @Test func `about a failure in a sentence that a terminal might obey is not believed`()
        async throws
    {
        let place = try await LyingBench(
            .value(
                .rendered, at: "content",
                is: #"{"failed":{"_0":{"code":"damagedPhoto","message":"\u001B[31mred"}}}"#))
        let failure = await #expect(throws: Failure.self) { try await place.attempt() }
        #expect(failure?.code == .untrustedRender)
        #expect(failure?.message.contains("\u{1B}") == false)
        #expect(try place.differences() == [])
        #expect(await place.pool.idle.isEmpty)
        await place.pool.close()
    }

    @Test func `cannot name a file, a type or a digest: there is no field for it`() async throws {
        for field in ["name", "path", "mediaType", "digest", "file"] {
            let place = try await LyingBench(
                .value(.rendered, at: "content.rendered.\(field)", is: #""../../../originals""#))
            let version = try await place.attempt()
            #expect(version.content?.render.name == "own.png")
            #expect(version.content?.render.mediaType == "image/png")
            let path = try place.path(version, of: place.own)
            #expect(
                try FileDigest.sha256(of: OpenFile(reading: path.string)).hex
                    == version.content?.render.sha256)
            await place.pool.close()
        }
    }

    @Test func `with other pixels spoils its own photo alone`() async throws {
        let picture = SyntheticPhoto.png(width: 64, height: 48, seed: 77)
        let place = try await LyingBench(.result(picture))
        let version = try await place.attempt(tenant: "a")
        let path = try place.path(version, of: place.own).string
        #expect(try Data(contentsOf: URL(filePath: path)) == picture)
        #expect(try place.differences().allSatisfy { $0.contains("own.png") })
        // The same photo of another tenant is not what the liar made of it.
        let twin = try place.bench.put("twin.png", SyntheticPhoto.png(width: 64, height: 48))
        let honest = try await place.attempt(twin, tenant: "b")
        #expect(honest.content?.reusedFrom == nil)
        #expect(honest.content?.render.sha256 != version.content?.render.sha256)
        await place.pool.close()
    }

    @Test func `about a photo's size gets no render of another photo`() async throws {
        let place = try await LyingBench(
            .value(
                .inspected, at: "content.inspected._0.header.storedSize",
                is: #"{"width":80,"height":60}"#))
        // Rendered and offered to whoever has the same photo.
        let bench = place.bench
        guard case .made(let made, _) = try await bench.edit(place.other, LyingBench.edit) else {
            throw Failure(.internalError, "nothing was made")
        }
        let version = try await place.attempt()
        #expect(version.content?.reusedFrom == nil)
        #expect(version.content?.rendering?.key != made.content?.rendering?.key)
        #expect(version.content?.render.sha256 != made.content?.render.sha256)
        let digest = try FileDigest.sha256(
            of: OpenFile(reading: bench.library.original(of: place.own).string)
        ).hex
        #expect(version.content?.input.sha256 == digest)
        await place.pool.close()
        await bench.pool.close()
    }

    @Test func `and goes on writing is ended, and changes no byte of what is published`()
        async throws
    {
        let place = try await LyingBench(.misbehaviour(.writeOn))
        do {
            let version = try await place.attempt()
            let path = try place.path(version, of: place.own)
            let published = try OpenFile(reading: path.string)
            let digest = try #require(version.content?.render.sha256)
            // It is stopped while its result is copied, and kept the place of the result open.
            let liar = try #require(place.pids.first)
            #expect(kill(liar, 0) != 0)
            #expect(await place.pool.idle.isEmpty)
            #expect(try FileDigest.sha256(of: published).hex == digest)
        } catch let failure as Failure {
            // It overwrote the head before that was copied.
            #expect(failure.code == .untrustedRender)
            #expect(try place.differences() == [])
        }
        await place.pool.close()
    }

    @Test func `and does not end when its worker wants no more of it is killed`() async throws {
        let place = try await LyingBench(.misbehaviour(.ignoreEnd))
        _ = try await place.attempt()
        await place.pool.close()
        let pid = try #require(place.pids.first)
        #expect(kill(pid, 0) != 0)
    }
}
