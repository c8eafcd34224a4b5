import Files
import Library
import Testing

@testable import BucketLibrary

@Suite("Parts of movies in a bucket") struct MoviePartTests {
    private func part(_ bytes: [UInt8]) throws -> OpenFile {
        let file = try OpenFile.inMemory(name: "a part")
        try file.write(bytes, at: 0)
        return file
    }

    @Test func `are found by whoever goes on with the movie, and gone when it is done`()
        async throws
    {
        let fixture = try BucketFixture()
        let (first, second) = (
            MoviePartName(try .test(), 0), MoviePartName(try .test(), 11)
        )
        try await fixture.library.keepMoviePart(try part([1, 2, 3]), as: first)
        try await fixture.library.keepMoviePart(
            try part([UInt8](repeating: 7, count: 3_000_000)), as: second)
        let other = try fixture.anotherMachine()
        let file = try part([UInt8](repeating: 9, count: 50))
        #expect(try await other.library.readMoviePart(first, into: file))
        #expect(file.bytes(from: 0, count: 60) == [1, 2, 3])
        #expect(try await other.library.readMoviePart(second, into: file))
        #expect(try file.length() == 3_000_000)
        let third = MoviePartName(try .test(), 1)
        #expect(try await !other.library.readMoviePart(third, into: file))
        try await other.library.removeMovieParts(of: .test())
        #expect(try await !fixture.library.readMoviePart(first, into: file))
    }

    @Test func `are collected after a day`() async throws {
        let fixture = try BucketFixture()
        let name = MoviePartName(try .test(), 0)
        try await fixture.library.keepMoviePart(try part([1]), as: name)
        try await fixture.library.removeOldMovieParts()
        #expect(try await fixture.library.readMoviePart(name, into: part([])))
        fixture.memory.now += MoviePartName.age + 1
        try await fixture.library.removeOldMovieParts()
        #expect(try await !fixture.library.readMoviePart(name, into: part([])))
    }
}
