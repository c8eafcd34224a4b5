import Edits
import Library
import MinilabTesting
import Testing

@testable import BucketLibrary

@Suite("A worker that dies") struct CrashTests {
    /// Kinds of versions that it may be making.
    enum Making: CaseIterable { case edit, undo, draft, publication }

    private func seal(
        _ making: Making, _ name: VersionName, by f: BucketFixture
    ) async throws -> StagedVersion {
        switch making {
        case .edit: try await f.seal(name, on: version(2), text: "three")
        case .undo: try await f.seal(name, on: version(2), showing: version(1))
        case .draft: try await f.seal(name, on: version(2), text: "draft", isDraft: true)
        case .publication: try await f.seal(name, on: version(2), publishing: version(3, 30))
        }
    }

    /// An asset with two versions and a draft.
    private func edited() async throws -> BucketFixture {
        let f = try BucketFixture()
        _ = try await f.publish(version(1), on: nil, text: "one")
        _ = try await f.publish(version(2), on: version(1), text: "two")
        _ = try await f.publish(version(3, 30), on: version(2), text: "draft", isDraft: true)
        return f
    }

    @Test(arguments: Making.allCases)
    func `at any request leaves the old version or the new one, and another carries on`(
        _ making: Making
    ) async throws {
        var calls = 1
        while true {
            let f = try await edited()
            let store = CrashingStore(f.memory, seed: UInt64(calls), callsLeft: calls)
            let dying = try BucketFixture(store: store, asset: f.asset.string, clock: f.memory)
            let name = version(3, 77)
            do {
                let staged = try await seal(making, name, by: dying)
                _ = try await dying.library.publish(name, of: f.asset, from: staged)
            } catch {}
            let isDead = store.isDead
            let state = try await f.library.state(of: f.asset)
            for shown in [state.current, state.draft].compactMap(\.self) {
                for file in shown.content?.fileNames ?? [] {
                    _ = try await f.library.open(StoredFile(file, of: shown, f.asset))
                }
            }
            let other = try f.anotherMachine()
            let carried = try await other.library.publish(
                name, of: f.asset, from: f.staged(name))
            #expect([.published, .alreadyPublished, .lost].contains(carried), "\(calls)")
            if carried == .lost {
                let again = version(3, 78)
                let staged = try await seal(making, again, by: other)
                #expect(
                    try await other.library.publish(again, of: f.asset, from: staged)
                        == .published)
            }
            let end = try await other.library.state(of: f.asset)
            let made = making == .draft ? end.draft : end.current
            #expect([name.description, "3-78"].contains(made?.version), "\(calls)")
            #expect(
                try await other.library.history(of: f.asset).count == (making == .draft ? 2 : 3))
            guard isDead else { break }
            calls += 1
        }
        #expect(calls > 4)
    }
}
