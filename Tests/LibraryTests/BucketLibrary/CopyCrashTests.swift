import Edits
import Files
import Library
import MinilabTesting
import Testing

@testable import BucketLibrary

@Suite("A copy that is cut off") struct CopyCrashTests {
    /// Copies; a crash is no error here.
    private func tryCopy(_ source: any CopyableLibrary, _ target: any CopyableLibrary) async {
        do { try await copy(source, target) } catch {}
    }

    /// Whether an asset shows nothing, or all of what it shows.
    private func checkShown(_ library: any LibraryStore, _ asset: AssetPath) async throws {
        let state = try await library.state(of: asset)
        for shown in [state.current, state.draft].compactMap(\.self) {
            for file in shown.content?.fileNames ?? [] {
                _ = try await library.open(StoredFile(file, of: shown, asset))
            }
        }
        if state.current != nil {
            #expect(try await library.history(of: asset).count == 3)
            _ = try await library.open(.original(asset))
        }
    }

    @Test func `a bucket's, at any request, is whole after the next one`() async throws {
        let f = try await BucketFixture.edited()
        let whole = try BucketFixture.empty(MemoryBlobStore())
        try await copy(f.library, whole.library)
        let expected = try whole.memoryTree()
        for calls in stride(from: Int.random(in: 1...3), to: .max, by: 3) {
            let memory = MemoryBlobStore()
            let dying = CrashingStore(memory, seed: UInt64(calls), callsLeft: calls)
            let victim = try BucketFixture.empty(dying, clock: memory)
            await tryCopy(f.library, victim.library)
            let isDead = dying.isDead
            let target = try BucketFixture.empty(memory)
            try await checkShown(target.library, f.asset)
            let again = try await copy(f.library, target.library)
            #expect(again.refused == [:], "\(calls)")
            #expect(try target.memoryTree() == expected, "\(calls)")
            let reader = try target.anotherMachine()
            try await checkShown(reader.library, f.asset)
            guard isDead else { break }
        }
    }

    /// Of so many file calls one is tried, beginning with another one each time: all take more than a minute.
    private static let callsPerTry = 8

    @Test func `a folder's, at any call, is whole after the next one`() async throws {
        var seeds = SeededGenerator()
        seeds.printSeed("CopyCrashTests")
        let f = try await BucketFixture.edited()
        let whole = try CopyFolder()
        try await copy(f.library, whole.library())
        let first = 8 + Int.random(in: 0..<Self.callsPerTry, using: &seeds)
        for calls in stride(from: first, to: .max, by: Self.callsPerTry) {
            let target = try CopyFolder()
            let faults = FaultInjection(afterCalls: calls)
            // Opening makes folders too: when the crash strikes there, nothing is copied.
            if let dying = try? target.library(faults: faults) {
                await tryCopy(f.library, dying)
            }
            let hasStruck = faults.hasStruck
            try await checkShown(target.library(), f.asset)
            let again = try await copy(f.library, target.library())
            #expect(again.refused == [:], "\(calls)")
            let (found, wanted) = (try target.tree(), try whole.tree())
            #expect(
                found == wanted, "\(calls): \(Set(found.keys).symmetricDifference(wanted.keys))")
            #expect(try target.shared() == whole.shared(), "\(calls)")
            guard hasStruck else { break }
        }
    }

    @Test func `one of a bucket that goes away is whole after the next one`() async throws {
        let f = try await BucketFixture.edited()
        let whole = try CopyFolder()
        try await copy(f.library, whole.library())
        for calls in stride(from: Int.random(in: 1...3), to: .max, by: 3) {
            let target = try CopyFolder()
            let dying = CrashingStore(f.memory, seed: UInt64(calls), callsLeft: calls)
            let source = try BucketFixture.empty(dying, clock: f.memory)
            await tryCopy(source.library, try target.library())
            try await checkShown(target.library(), f.asset)
            #expect(try await copy(f.library, target.library()).refused == [:], "\(calls)")
            let (found, wanted) = (try target.tree(), try whole.tree())
            #expect(
                found == wanted, "\(calls): \(Set(found.keys).symmetricDifference(wanted.keys))")
            guard dying.isDead else { break }
        }
    }
}

extension BucketFixture {
    fileprivate func memoryTree() throws -> [String: String] {
        guard let memory = store as? MemoryBlobStore else { return [:] }
        return Dictionary(
            uniqueKeysWithValues: memory.keys.map {
                ($0, $0.hasPrefix("current/") ? "" : memory.text($0) ?? "")
            })
    }
}
