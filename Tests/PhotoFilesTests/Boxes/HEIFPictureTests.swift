import MinilabTesting
import Testing

@testable import PhotoFiles

@Suite("Pictures of a HEIC, by their boxes") struct HEIFPictureTests {
    /// As long as such a box has to be; 4:2:0, 8 bits.
    private static let configuration: [UInt8] = {
        var bytes = [UInt8](repeating: 0, count: 23)
        (bytes[0], bytes[16]) = (1, 1)
        return bytes
    }()

    private static let tile = SyntheticHEIC.Tile(
        configuration: configuration, unit: [1, 2, 3], width: 64, height: 32)

    private static func grid(_ change: (inout SyntheticHEIC) -> Void = { _ in }) -> SyntheticHEIC {
        var heic = SyntheticHEIC(
            [SyntheticHEIC.Tile](repeating: tile, count: 6), columns: 3, width: 150, height: 50)
        change(&heic)
        return heic
    }

    private static func read(_ bytes: [UInt8]) throws -> HEIFStill {
        var file = FileWindow(bytes)
        let meta = try #require(HEIFMeta(of: &file))
        return try HEIFStill(meta, in: &file)
    }

    @Test func `are read with the byte ranges of their tiles`() throws {
        let bytes = Self.grid().bytes
        let picture = try Self.read(bytes).picture
        #expect((picture.columns, picture.rows) == (3, 2) && picture.isGrid)
        #expect((picture.width, picture.height) == (150, 50))
        #expect((picture.tileWidth, picture.tileHeight) == (64, 32))
        #expect(picture.tiles.allSatisfy { $0.count == 1 && Array(bytes[$0[0]]) == [1, 2, 3] })
        #expect(picture.configuration.chromaFormat == 1 && picture.configuration.lumaBits == 8)
    }

    @Test func `in one piece need no grid, and may have alpha`() throws {
        var heic = SyntheticHEIC(Self.tile)
        heic.alpha = Self.tile
        let still = try Self.read(heic.bytes)
        #expect(!still.picture.isGrid && still.alpha?.width == 64)
        #expect(still.pictures == 1)
    }

    private typealias Change = @Sendable (inout SyntheticHEIC) -> Void

    private static let lies: [(what: String, kind: HEIFProblem.Kind, change: Change)] = [
        ("too few tiles across", .damaged, { $0.width = 193 }),
        ("too few tiles down", .damaged, { $0.height = 65 }),
        ("a column of tiles that nobody sees", .damaged, { $0.width = 128 }),
        ("fewer tiles than the grid says", .damaged, { $0.rows = 3 }),
        ("tiles of two sizes", .unsupported, { $0.tiles[4].width = 32 }),
        ("tiles of two configurations", .unsupported, { $0.tiles[5].configuration[12] = 9 }),
        (
            "no configuration", .damaged,
            { heic in
                for index in heic.tiles.indices { heic.tiles[index].configuration = [1, 2] }
            }
        ),
        (
            "luma and chroma of different depths", .unsupported,
            { heic in
                for index in heic.tiles.indices { heic.tiles[index].configuration[17] = 2 }
            }
        ),
        ("an overlay", .unsupported, { $0.kind = "iovl" }),
        ("an identity", .unsupported, { $0.kind = "iden" }),
        ("no pixels", .damaged, { $0.width = 0 }),
        ("alpha of another size", .unsupported, { $0.alpha = tile }),
        (
            "an aperture beside the picture", .damaged,
            { $0.properties = [clap(10, 10, 4_000, 0)] }
        ),
        (
            "an aperture that divides by nothing", .damaged,
            { $0.properties = [Bytes.box("clap", [UInt8](repeating: 0, count: 32))] }
        ),
    ]

    @Test(arguments: lies.indices)
    func `are refused with a reason when boxes lie`(_ index: Int) throws {
        let lie = Self.lies[index]
        let problem = #expect(throws: HEIFProblem.self) {
            try Self.read(Self.grid(lie.change).bytes)
        }
        #expect(problem?.kind == lie.kind, "\(lie.what): \(problem?.description ?? "")")
    }

    @Test func `whose tiles lie beyond the end of the file are damaged`() throws {
        let bytes = Self.grid().bytes
        let problem = #expect(throws: HEIFProblem.self) { try Self.read(Array(bytes.dropLast())) }
        #expect(problem?.kind == .damaged)
        #expect(problem?.description.contains("cut off") == true)
    }

    @Test func `of whatever bytes are refused or within their file`() throws {
        var random = SeededGenerator()
        random.printSeed()
        let whole = Self.grid {
            $0.properties = [Self.clap(100, 40, 3, -2), Bytes.box("irot", [1])]
        }
        .bytes
        var read = 0
        for _ in 0..<5_000 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] =
                    [0, 1, 0x7F, 0x80, 0xFF, UInt8.random(in: 0...255, using: &random)]
                    .randomElement(using: &random) ?? 0
            }
            var file = FileWindow(bytes)
            guard let meta = HEIFMeta(of: &file) else { continue }
            do throws(HEIFProblem) {
                let still = try HEIFStill(meta, in: &file)
                read += 1
                let (picture, placement) = (still.picture, still.placement)
                #expect(picture.tiles.joined().allSatisfy { $0.upperBound <= bytes.count })
                #expect(
                    placement.left >= 0 && placement.left + placement.codedWidth <= picture.width)
                #expect(
                    placement.top >= 0 && placement.top + placement.codedHeight <= picture.height)
                #expect(placement.width > 0 && placement.height > 0)
            } catch {
                #expect(!error.description.isEmpty)
            }
        }
        #expect(read > 100)
    }

    // MARK: Placement

    private static func clap(_ width: Int, _ height: Int, _ x: Int, _ y: Int) -> [UInt8] {
        Bytes.box("clap", [width, 1, height, 1, x, 1, y, 1].flatMap { Bytes.big($0) })
    }

    /// The pixels of a picture of 5 × 4 as they are shown: each says where it comes from.
    private static func shown(_ steps: [[UInt8]]) throws -> [[Int]] {
        let tile = SyntheticHEIC.Tile(
            configuration: configuration, unit: [1], width: 5, height: 4)
        var heic = SyntheticHEIC(tile)
        heic.properties = steps
        let placement = try read(heic.bytes).placement
        return (0..<placement.height).map { y in
            (0..<placement.width).map { x in
                let a = placement.flipsColumns ? placement.width - 1 - x : x
                let b = placement.flipsRows ? placement.height - 1 - y : y
                let (u, v) = placement.transposes ? (b, a) : (a, b)
                return 10 * (placement.top + v) + placement.left + u
            }
        }
    }

    /// The same step by step, by what each property says.
    private static func slowly(_ steps: [[UInt8]]) -> [[Int]] {
        var rows = (0..<4).map { y in (0..<5).map { 10 * y + $0 } }
        for step in steps {
            switch String(decoding: step[4..<8], as: UTF8.self) {
            case "irot":
                for _ in 0..<step[8] {
                    // Against the clock: the last column becomes the first row.
                    rows = (0..<rows[0].count).reversed().map { x in rows.map { $0[x] } }
                }
            case "imir": rows = step[8] == 1 ? rows.map { $0.reversed() } : rows.reversed()
            default: rows = rows.dropFirst().dropLast().map { Array($0.dropFirst(2).dropLast()) }
            }
        }
        return rows
    }

    @Test func `are turned, mirrored and cut in the order of their properties`() throws {
        let turns = (0..<4).map { Bytes.box("irot", [UInt8($0)]) }
        let mirrors = (0..<2).map { Bytes.box("imir", [UInt8($0)]) }
        for a in turns + mirrors {
            for b in turns + mirrors {
                for c in turns + mirrors {
                    #expect(try Self.shown([a, b, c]) == Self.slowly([a, b, c]))
                }
            }
        }
    }

    @Test(arguments: 0..<4) func `are cut as they are turned by then`(_ turns: Int) throws {
        let turn = Bytes.box("irot", [UInt8(turns)])
        // Two columns go on the left, one on the right, one row above and below.
        let (width, height) = turns % 2 == 0 ? (5, 4) : (4, 5)
        let clap = Bytes.box(
            "clap",
            [width - 3, 1, height - 2, 1, 1, 2, 0, 1].flatMap { Bytes.big($0) })
        #expect(try Self.shown([turn, clap]) == Self.slowly([turn, clap]))
        #expect(try Self.shown([turn, clap, turn]) == Self.slowly([turn, clap, turn]))
    }
}
