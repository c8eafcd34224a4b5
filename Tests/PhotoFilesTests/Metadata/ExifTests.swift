import Edits
import Foundation
import PhotoFiles
import MinilabTesting
import Testing

/// exiftool judges; it knows the makers' notes too.
@Suite("EXIF of a rendered photo") struct ExifTests {
    private let facts = PictureFacts(size: PixelSize(width: 300, height: 70_000))

    /// EXIF of an iPhone, whose MakerNote counts its offsets by itself: big endian, with a
    /// location and a thumbnail.
    private func iPhone() throws -> [UInt8] {
        return [UInt8](try Data(contentsOf: Repository.fixture("IMG_1064.exif")))
    }

    /// Every tag by its group and name, the binary ones by their bytes.
    private func tags(_ exif: [UInt8]) throws -> [String: String] {
        let folder = try TemporaryFolder()
        let bytes = exif.starts(with: Array("Exif\0\0".utf8)) ? Array(exif.dropFirst(6)) : exif
        try Data(bytes).write(to: URL(fileURLWithPath: folder.file("a.exif")))
        let json = try Tool.run(
            "exiftool",
            ["-j", "-G1", "-a", "-b", "-n", "-x", "System:all", "-x", "ExifTool:ExifToolVersion"]
                + [folder.file("a.exif")])
        let list = try #require(JSONSerialization.jsonObject(with: json) as? [[String: Any]])
        var tags: [String: String] = [:]
        for (name, value) in list[0] where name != "SourceFile" { tags[name] = "\(value)" }
        return tags.filter { !$0.key.hasPrefix("Composite") }
    }

    @Test func `dimensions and orientation are true, the thumbnail is gone, the rest stays`() throws
    {
        let original = try iPhone()
        let revised = try #require(Exif.revised(original, to: facts))
        var expected = try tags(original).filter { !$0.key.hasPrefix("IFD1") }
        #expect(expected["IFD0:Orientation"] == "6" && expected["Apple:RunTimeValue"] != nil)
        expected["IFD0:Orientation"] = "1"
        expected["ExifIFD:ExifImageWidth"] = "300"
        expected["ExifIFD:ExifImageHeight"] = "70000"
        #expect(try tags(revised) == expected)
        #expect(original.count - revised.count > 7_000, "the thumbnail's bytes are still there")
    }

    @Test func `the subject goes where the geometry puts it, or with what is cut away`() throws {
        let original = try iPhone()
        func area(_ positions: PictureFacts.Positions) throws -> String? {
            var facts = facts
            facts.positions = positions
            return try tags(#require(Exif.revised(original, to: facts)))["ExifIFD:SubjectArea"]
        }
        let size = PixelSize(width: 4032, height: 3024)
        let before = try #require(try tags(original)["ExifIFD:SubjectArea"])
        let numbers = before.split(separator: " ").compactMap { Int($0) }
        let (x, y, width, height) = (numbers[0], numbers[1], numbers[2], numbers[3])
        #expect(try area(.same) == before)
        #expect(
            try area(.moved(Geometry(of: size, turn: .right)))
                == "\(size.height - y) \(x) \(height) \(width)")
        let crop = PixelRectangle(x: x - 50, y: size.height - y - 60, width: 200, height: 100)
        #expect(
            try area(.moved(Geometry(of: size, crop: crop))) == "50 40 \(width) \(height)")
        let corner = PixelRectangle(x: 0, y: 0, width: 40, height: 30)
        #expect(try area(.moved(Geometry(of: size, crop: corner))) == nil)
        #expect(try area(.unknown) == nil)
    }

    @Test func `only the values that became untrue change their bytes`() throws {
        let original = try iPhone()
        let revised = try #require(Exif.revised(original, to: facts))
        let changed = zip(original, revised).filter { $0 != $1 }.count
        // Orientation, two numbers of 4 bytes, the link to the thumbnail, IFD1 and its values.
        #expect(changed < 100)
    }

    @Test func `without a location no byte of it is left`() throws {
        let original = try iPhone()
        var facts = facts
        facts.removesLocation = true
        let revised = try #require(Exif.revised(original, to: facts))
        let tags = try tags(revised)
        #expect(tags.keys.allSatisfy { !$0.contains("GPS") })
        #expect(tags["ExifTool:Warning"] == nil)
        #expect(tags["IFD0:Model"] == "iPhone 6s" && tags["Apple:RunTimeValue"] != nil)
        // The latitude's first rational, 38/1, stands nowhere else.
        let degrees: [UInt8] = [0, 0, 0, 38, 0, 0, 0, 1]
        #expect(Data(original).range(of: Data(degrees)) != nil)
        #expect(Data(revised).range(of: Data(degrees)) == nil)
    }

    @Test(arguments: [(true, "1"), (false, "65535")])
    func `a new colour space is named`(isSRGB: Bool, expected: String) throws {
        var facts = facts
        facts.newColourIsSRGB = isSRGB
        let revised = try #require(Exif.revised(iPhone(), to: facts))
        #expect(try tags(revised)["ExifIFD:ColorSpace"] == expected)
    }

    @Test func `a bare TIFF comes back bare`() throws {
        let bare = Array(try iPhone().dropFirst(6))
        let revised = try #require(Exif.revised(bare, to: facts))
        #expect(Array("Exif\0\0".utf8) + revised == Exif.revised(try iPhone(), to: facts))
    }

    @Test func `little-endian EXIF with short dimensions keeps its form`() throws {
        func entry(_ tag: UInt16, _ type: UInt16, _ value: UInt32) -> [UInt8] {
            [UInt8(tag & 255), UInt8(tag >> 8), UInt8(type), 0, 1, 0, 0, 0]
                + [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: value >> $0) }
        }
        let exif: [UInt8] =
            [0x49, 0x49, 42, 0, 8, 0, 0, 0, 2, 0] + entry(0x0112, 3, 8) + entry(0x8769, 4, 38)
            + [0, 0, 0, 0] + [2, 0] + entry(0xA002, 3, 640) + entry(0xA003, 3, 480) + [0, 0, 0, 0]
        let facts = PictureFacts(size: PixelSize(width: 480, height: 70_000))
        let expected: [UInt8] =
            [0x49, 0x49, 42, 0, 8, 0, 0, 0, 2, 0] + entry(0x0112, 3, 1) + entry(0x8769, 4, 38)
            + [0, 0, 0, 0] + [2, 0] + entry(0xA002, 3, 480) + entry(0xA003, 4, 70_000)
            + [0, 0, 0, 0]
        #expect(Exif.revised(exif, to: facts) == expected)
    }

    @Test func `bytes that are no EXIF are not kept`() throws {
        for bytes: [UInt8] in [
            [], [1, 2, 3], Array("Exif\0\0".utf8), Array("MM\0*\0\0\0\u{8}".utf8),
        ] {
            #expect(Exif.revised(bytes, to: facts) == nil)
        }
    }

    @Test func `EXIF with any bytes wrong or cut off crashes nothing`() throws {
        let original = Array(try iPhone().prefix(2_200))
        var generator = SeededGenerator()
        generator.printSeed()
        var facts = facts
        facts.removesLocation = true
        for _ in 0..<2_000 {
            var bytes = original
            for _ in 0..<Int.random(in: 1...30, using: &generator) {
                let index = Int.random(in: bytes.indices, using: &generator)
                bytes[index] = .random(in: .min ... .max, using: &generator)
            }
            bytes.removeLast(Int.random(in: 0..<bytes.count, using: &generator))
            if let revised = Exif.revised(bytes, to: facts) {
                #expect(revised.count <= bytes.count)
            }
        }
    }

    @Test func `EXIF that moves to another file says the same there`() throws {
        let original = Array(try iPhone().dropFirst(6))
        func read(_ offset: Int, _ count: Int) -> [UInt8] {
            Array(original.dropFirst(offset).prefix(count))
        }
        let moved = try #require(ExifDirectories(read)?.standalone())
        let expected = try tags(original).filter { name, _ in
            !name.hasPrefix("IFD1") && name != "IFD0:YCbCrPositioning"
        }
        #expect(try tags(moved) == expected)
    }

    @Test func `directories with any bytes wrong or cut off crash nothing`() throws {
        let original = Array(try iPhone().dropFirst(6).prefix(2_200))
        var generator = SeededGenerator()
        generator.printSeed()
        for _ in 0..<2_000 {
            var bytes = original
            for _ in 0..<Int.random(in: 1...30, using: &generator) {
                let index = Int.random(in: bytes.indices, using: &generator)
                bytes[index] = .random(in: .min ... .max, using: &generator)
            }
            bytes.removeLast(Int.random(in: 0..<bytes.count, using: &generator))
            let moved = ExifDirectories { Array(bytes.dropFirst($0).prefix($1)) }?.standalone()
            #expect(moved?.isEmpty != true)
        }
    }
}
