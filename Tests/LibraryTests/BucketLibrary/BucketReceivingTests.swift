import Edits
import BlobStore
import Files
import FoundationEssentials
import Library
import MinilabTesting
import ServiceTesting
import Testing

@testable import BucketLibrary

@Suite("Originals that arrive in a bucket", .timeLimit(.minutes(10)))
struct BucketReceivingTests {
    private static let text = "a photo"

    private func receive(
        _ f: BucketFixture, _ asset: String, _ text: String = text, announced: Int? = nil
    ) async throws -> ReceivedOriginal {
        try await f.library.receive(
            OriginalArrival(try AssetPath(asset), bytes: announced ?? text.utf8.count)
        ) { file throws(Failure) in
            try file.write(Array(text.utf8), at: 0)
            try file.cut(to: text.utf8.count)
            let found = try FileDigest.sha256(of: file)
            return StoredDigest(sha256: found.hex, bytes: found.bytes)
        }
    }

    private func keepsTheRules(_ f: BucketFixture) async throws {
        #expect(try await receive(f, "2030/new.JPG") == .added)
        let new = try AssetPath("2030/new.JPG")
        #expect(try await f.text(f.library.open(.original(new))) == Self.text)
        #expect(try await receive(f, "2030/new.JPG", "another") == .isThere)
        #expect(try await f.text(f.anotherMachine().library.open(.original(new))) == Self.text)
        await #expect(throws: Failure.self) {
            try await receive(f, "2030/short.JPG", announced: 100)
        }
        let short = try AssetPath("2030/short.JPG")
        #expect(try await f.library.info(of: .original(short)).bytes == nil)
    }

    @Test func `are there whole or not at all, and replace nothing`() async throws {
        try await keepsTheRules(BucketFixture())
    }

    @Test(arguments: StoreServer.allCases)
    func `do so in a store that is really there`(server: StoreServer) async throws {
        guard server.isHere else { try Test.cancel("\(server.needs)") }
        try await TestStore(on: server).withClient { client in
            try await keepsTheRules(
                BucketFixture(store: client, asset: "2024/IMG_0001.JPG"))
        }
    }

    @Test func `that come at the same time leave one`() async throws {
        let f = try BucketFixture()
        let answers = try await withThrowingTaskGroup(of: ReceivedOriginal.self) { group in
            for number in 0..<8 {
                group.addTask { try await receive(f, "2030/new.JPG", "photo \(number)") }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(answers.count { $0 == .added } == 1)
    }
}
