import PhotoFiles
import Testing

@testable import Codecs

/// Samples against a second decoder: the sums are those that libde265 1.0.11 gives, whose samples are equal one by one.
@Suite("Planes of HEICs") struct HEICPlanesTests {
    struct Photo: Sendable, CustomStringConvertible {
        let name: String
        /// Of all samples of luma, blue and red difference that are shown.
        let sums: [Int]
        var description: String { name }
    }

    private static let arrow = Photo(
        name: "arrow.heic", sums: [1_948_852_176, 381_942_898, 397_476_569])

    /// Of the larger set: iPhones 7 to 15 Pro, tiles of 512² and of 640 × 896.
    private static let photos =
        HEICFixture.corpus == nil
        ? []
        : [
            Photo(
                name: "heic/IMG_0102.HEIC", sums: [230_993_909, 227_713_367, 232_850_761]),
            Photo(
                name: "heic/IMG_2682.heic", sums: [1_021_672_358, 405_628_923, 375_032_485]),
            Photo(name: "heic/pug.heic", sums: [1_947_371_560, 379_041_736, 396_996_398]),
            Photo(
                name: "aae/IMG_1853/IMG_1853.HEIC",
                sums: [1_383_161_475, 364_688_886, 409_205_188]),
            Photo(
                name: "aae/IMG_1853/IMG_E1853.heic",
                sums: [1_347_528_090, 390_168_576, 390_168_576]),
            Photo(
                name: "aae/IMG_3582/IMG_3582.HEIC",
                sums: [2_638_961_965, 757_952_147, 772_466_850]),
            Photo(
                name: "aae/IMG_3582/IMG_3582_edited.heic",
                sums: [2_653_311_764, 783_046_656, 783_046_656]),
        ]

    @Test func `are those of libde265, by sums of luma and chroma`() throws {
        try Self.check(Self.arrow, HEICFixture.bytes(Self.arrow.name))
    }

    @Test(arguments: photos) func `of photos of a corpus are those of libde265`(_ photo: Photo)
        throws
    {
        let folder = try #require(HEICFixture.corpus) + "/photos/"
        try Self.check(photo, HEICFixture.bytes(at: folder + photo.name))
    }

    private static func check(_ photo: Photo, _ bytes: [UInt8]) throws {
        var file = FileWindow(bytes)
        let still = try HEIFStill(#require(HEIFMeta(of: &file)), in: &file)
        let planes = try #require(try HEICPlanes(still, in: file))
        let chroma = (planes.width + 1) / 2
        #expect(planes.chromaShift == (1, 1))
        var sums = [0, 0, 0]
        let counts = [planes.width, chroma, chroma]
        let rows = counts.map { UnsafeMutablePointer<UInt8>.allocate(capacity: $0) }
        defer { for row in rows { row.deallocate() } }
        for _ in 0..<planes.height {
            let hasChroma = try planes.copyRow(luma: rows[0], blue: rows[1], red: rows[2])
            for plane in 0..<(hasChroma ? 3 : 1) {
                for x in 0..<counts[plane] { sums[plane] += Int(rows[plane][x]) }
            }
        }
        #expect(sums == photo.sums, "\(photo)")
    }
}
