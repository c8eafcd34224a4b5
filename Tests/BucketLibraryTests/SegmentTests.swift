import Files
import Library
import Testing

@testable import BucketLibrary

@Suite("Parts of movies in a bucket") struct SegmentTests {
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
            SegmentName(try .test(), 0), SegmentName(try .test(), 11)
        )
        try await fixture.library.keepSegment(try part([1, 2, 3]), as: first)
        try await fixture.library.keepSegment(
            try part([UInt8](repeating: 7, count: 3_000_000)), as: second)
        let other = try fixture.anotherMachine()
        let file = try part([UInt8](repeating: 9, count: 50))
        #expect(try await other.library.readSegment(first, into: file))
        #expect(file.bytes(from: 0, count: 60) == [1, 2, 3])
        #expect(try await other.library.readSegment(second, into: file))
        #expect(try file.length() == 3_000_000)
        let third = SegmentName(try .test(), 1)
        #expect(try await !other.library.readSegment(third, into: file))
        try await other.library.forgetSegments(of: .test())
        #expect(try await !fixture.library.readSegment(first, into: file))
    }

    @Test func `are collected after a day`() async throws {
        let fixture = try BucketFixture()
        let name = SegmentName(try .test(), 0)
        try await fixture.library.keepSegment(try part([1]), as: name)
        try await fixture.library.forgetOldSegments()
        #expect(try await fixture.library.readSegment(name, into: part([])))
        fixture.memory.now += SegmentName.age + 1
        try await fixture.library.forgetOldSegments()
        #expect(try await !fixture.library.readSegment(name, into: part([])))
    }
}
