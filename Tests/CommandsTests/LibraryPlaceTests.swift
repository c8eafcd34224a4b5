import Edits
import JobQueue
import Library
import Operations
import Testing

@Suite("The place of a queue's library") struct LibraryPlaceTests {
    private let own = QueueLibrary(id: String(repeating: "a", count: 32), name: "/srv/photos")

    /// Checks a place that has these contents, one after the other as it is read.
    private func check(
        _ contents: [LibraryFolder.Contents], ofQueue library: QueueLibrary?
    ) async throws {
        var left = contents[...]
        try await LibraryPlace.check(
            "/srv/photos", for: .photos,
            contents: {
                let next = left.popFirst()
                return try #require(next)
            }, library: { library })
    }

    private func identity() throws -> LibraryIdentity {
        let text = #"{"format":1,"id":"\#(own.id)","hasOriginals":true}"#
        return try #require(try LibraryIdentity.decoded(Array(text.utf8), at: "library.json"))
    }

    @Test func `may have no identity while the queue has no library`() async throws {
        try await check([.unmarked], ofQueue: nil)
        try await check([.library(identity())], ofQueue: own)
    }

    @Test func `is refused without an identity when the queue has a library`() async throws {
        let failure = await #expect(throws: Failure.self) {
            try await check([.unmarked, .unmarked], ofQueue: own)
        }
        #expect(failure?.message.contains("does not say which library") == true)
        let nothing = await #expect(throws: Failure.self) {
            try await check([.nothing], ofQueue: nil)
        }
        #expect(nothing?.message.contains("there is no library at /srv/photos") == true)
    }

    @Test func `is read again when another worker begins the library meanwhile`() async throws {
        try await check([.unmarked, .library(identity())], ofQueue: own)
    }
}
