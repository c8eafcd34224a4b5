import Testing

@testable import PhotoFiles

/// Numbers of a movie that nobody can work with.
@Suite("Numbers of movies") struct MovieNumbersTests {
    /// A movie with a number changed behind the first four characters of a box of its video track.
    private static func movie(
        _ type: String, at offset: Int, _ number: [UInt8]
    ) throws -> Movie {
        var bytes = try MovieFixture.named("h265_bframes.mp4")
        let found = try #require(bytes.firstRange(of: Array(type.utf8)))
        let at = found.upperBound + offset
        bytes.replaceSubrange(at..<at + number.count, with: number)
        return try MovieFixture.movie(bytes)
    }

    @Test(arguments: [[0xFF, 0xFF, 0xFF, 0xFF], [0x80, 0, 0, 0], [0, 0, 0, 0]] as [[UInt8]])
    func `are units of a second that no encoder counts`(units: [UInt8]) {
        #expect(throws: MovieProblem.self) { try Self.movie("mdhd", at: 12, units) }
    }

    @Test func `are units of a second up to 31 bits`() throws {
        let movie = try Self.movie("mdhd", at: 12, [0x7F, 0xFF, 0xFF, 0xFF])
        #expect(movie.video.timeScale == Int(Int32.max))
    }

    @Test(arguments: [24, 26]) func `are frames of no pixels`(offset: Int) {
        // Behind `hev1`: the header of a sample description, 8 bytes shorter for its length and type.
        #expect(throws: MovieProblem.self) { try Self.movie("hev1", at: offset, [0, 0]) }
    }
}
