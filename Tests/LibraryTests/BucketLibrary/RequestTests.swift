import Edits
import Library
import Testing

@testable import BucketLibrary

@Suite("Requests") struct RequestTests {
    /// The first steps of an edit, as a worker takes them.
    private func begin(_ f: BucketFixture) async throws {
        let state = try await f.library.state(of: f.asset)
        if state == AssetState() { try await f.library.checkEntries(of: f.asset) }
        f.memory.resetCalls()
    }

    @Test func `a render takes six`() async throws {
        let f = try BucketFixture()
        for revision in 1...3 {
            try await begin(f)
            // Sealing reads the head, as the worker does when it opens the asset.
            if revision == 1 { _ = try await f.library.open(.original(f.asset)) }
            #expect(
                try await f.publish(
                    version(revision), on: revision > 1 ? version(revision - 1) : nil,
                    text: "\(revision)") == .published)
            let calls = f.memory.calls
            #expect(calls.count == (revision == 1 ? 6 : 5), "\(calls)")
        }
    }

    @Test func `an undo takes five, also for a worker that knows nothing yet`() async throws {
        let f = try BucketFixture()
        _ = try await f.publish(version(1), on: nil, text: "one")
        _ = try await f.publish(version(2), on: version(1), text: "two")
        let other = try f.anotherMachine()
        f.memory.resetCalls()
        #expect(
            try await other.publish(version(3), on: version(2), showing: version(1)) == .published)
        #expect(f.memory.calls.count == 5, "\(f.memory.calls)")
        #expect(try await f.currentText() == "one")
    }

    @Test func `an edit that changes nothing takes two`() async throws {
        let f = try BucketFixture()
        _ = try await f.publish(version(1), on: nil, arrival: 5)
        f.memory.resetCalls()
        let current = try #require(try await f.library.state(of: f.asset).current)
        #expect(try await f.library.confirm(current, of: f.asset, at: 9))
        #expect(f.memory.calls.count == 2, "\(f.memory.calls)")
        #expect(try await f.library.state(of: f.asset).arrival == 9)
    }

    @Test func `an original that is here takes one HEAD, a layer nothing`() async throws {
        let f = try BucketFixture()
        _ = try await f.publish(version(1), on: nil)
        _ = try await f.currentText()
        _ = try await f.library.open(.original(f.asset))
        f.memory.resetCalls()
        _ = try await f.library.open(.original(f.asset))
        #expect(f.memory.calls.map(\.kind) == [.head])
        let current = try #require(try await f.library.state(of: f.asset).current)
        f.memory.resetCalls()
        _ = try await f.library.open(StoredFile("IMG_0001.jpg", of: current, f.asset))
        #expect(f.memory.calls.isEmpty)
    }

    @Test func `a page of a thousand assets takes one, and the last one says that it is`()
        async throws
    {
        let f = try BucketFixture()
        for number in 0..<3_000 { try f.memory.set("{}", at: "current/a\(10_000 + number).jpg") }
        f.memory.resetCalls()
        var (last, count) = (AssetPath?.none, 0)
        repeat {
            let page = try await f.library.assets(after: last)
            (last, count) = (page.next, count + page.assets.count)
        } while last != nil
        #expect(count == 3_000)
        #expect(f.memory.calls.count == 3)
    }
}
