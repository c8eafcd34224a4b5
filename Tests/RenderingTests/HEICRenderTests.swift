import Edits
import PhotoFiles
import Foundation
import Codecs
import MinilabTesting
import RenderProtocol
import Testing

@testable import Rendering

/// Our reading of HEIC against libheif's, of the same bytes.
@Suite("HEIC by rows of tiles") struct HEICRenderTests {
    /// Smooth, so that the two ways to interpolate chroma differ little; no symmetry.
    static func picture(width: Int, height: Int, seed: Int, isDeep: Bool = false) throws
        -> Image
    {
        try VipsLibrary.start()
        var bytes: [UInt8] = []
        for y in 0..<height {
            for x in 0..<width {
                let red: Int = 60 + (x * 40 / width + seed * 6) % 160
                let green: Int = 50 + y * 70 / height
                let blue: Int = 200 - (2 * x + y) * 20 / (width + height) - seed * 5
                for code in [red, green, blue] {
                    bytes.append(UInt8(code))
                    // 257 times the code is this byte twice.
                    if isDeep { bytes.append(UInt8(code)) }
                }
            }
        }
        return try Image.fromPixels(
            bytes, width: width, height: height, bands: 3, format: isDeep ? .ushort : .uchar,
            interpretation: isDeep ? "rgb16" : "srgb")
    }

    /// A picture as x265 encodes it.
    static func tile(
        width: Int, height: Int, seed: Int, bits: Int = 8,
        chroma: Image.ChromaSubsampling = .on
    ) throws -> SyntheticHEIC.Tile {
        let image = try picture(width: width, height: height, seed: seed, isDeep: bits > 8)
        let encoder = try HEICPictureEncoder(
            width: width, height: height, bands: 3, .colour,
            HEICCoding(chroma: chroma == .on ? .half : .full, bits: bits, rate: 10), colour: [])
        let rowBytes = width * image.bytesPerPixel
        let units = try image.pixels().withUnsafeBytes { pixels in
            try (0..<height).flatMap { row in
                try encoder.append(
                    UnsafeRawBufferPointer(rebasing: pixels[(row * rowBytes)...]).baseAddress!)
            }
        }
        return SyntheticHEIC.Tile(
            configuration: encoder.picture.configuration, unit: try #require(units.first),
            width: width, height: height)
    }

    /// Mean difference of all samples from what libheif makes of a file, in codes of 8 bits or of `bits`.
    private static func difference(_ path: String, bits: Int = 8) throws -> Double {
        try VipsTurn.shared {
            let ours = try PhotoFile(at: path).image(failOn: .error)
            let theirs = try Image.open(
                path, loader: "heifload", streaming: false, failOn: .error)
            try #require(ours.width == theirs.width && ours.height == theirs.height)
            try #require(ours.bands == theirs.bands && ours.format == theirs.format)
            let (a, b) = (try ours.pixels(), try theirs.pixels())
            guard ours.format == .ushort else {
                return zip(a, b).reduce(0) { $0 + Double(abs(Int($1.0) - Int($1.1))) }
                    / Double(a.count)
            }
            // libvips shifts codes to the top, where ours have the whole range.
            let sum = stride(from: 0, to: a.count, by: 2).reduce(0.0) { sum, index in
                let x = Double(Int(a[index]) | Int(a[index + 1]) << 8) / 65_535
                let y = Double((Int(b[index]) | Int(b[index + 1]) << 8) >> (16 - bits))
                return sum + abs(x * Double((1 << bits) - 1) - y)
            }
            return sum / Double(a.count / 2)
        }
    }

    static let turns =
        (0..<4).map { Bytes.box("irot", [UInt8($0)]) }
        + (0..<2).map { Bytes.box("imir", [UInt8($0)]) }

    @Test(arguments: turns.indices, [Image.ChromaSubsampling.on, .off])
    func `a grid that is turned is what libheif makes of it`(
        _ turn: Int, _ chroma: Image.ChromaSubsampling
    ) throws {
        let studio = try Studio()
        let tiles = try (0..<6).map {
            try Self.tile(width: 64, height: 64, seed: $0, chroma: chroma)
        }
        var heic = SyntheticHEIC(tiles, columns: 3, width: 180, height: 100)
        heic.properties = [Self.turns[turn]]
        let path = try studio.write(heic.bytes, as: "grid.heic")
        #expect(try Self.difference(path) < 1)
        let header = try VipsTurn.shared { try PhotoFile(at: path).header() }
        let isQuarter = turn == 1 || turn == 3
        #expect(
            header.storedSize
                == PixelSize(width: isQuarter ? 100 : 180, height: isQuarter ? 180 : 100))
        #expect(header.orientation == 1 && header.rowsAtOnce == 64)
    }

    /// Of the last tiles one row or column is shown, and what is turned begins with it.
    @Test func `a grid that is turned begins with the last row of its tiles`() throws {
        let studio = try Studio()
        let tiles = try (0..<6).map { try Self.tile(width: 64, height: 64, seed: $0) }
        var heic = SyntheticHEIC(tiles, columns: 3, width: 180, height: 65)
        func codes(_ turn: Int) throws -> [UInt8] {
            heic.properties = [Self.turns[turn]]
            let path = try studio.write(heic.bytes, as: "grid.heic")
            return try VipsTurn.shared { try PhotoFile(at: path).image(failOn: .error).pixels() }
        }
        let upright = try codes(0)
        let pixels = stride(from: 0, to: upright.count, by: 3).reversed()
        #expect(try codes(2) == pixels.flatMap { upright[$0..<$0 + 3] })
    }

    @Test(arguments: [(8, Image.ChromaSubsampling.on), (8, .off), (10, .on), (10, .off), (12, .on)])
    func `a picture in one piece is what libheif makes of it`(
        _ bits: Int, _ chroma: Image.ChromaSubsampling
    ) throws {
        let studio = try Studio()
        let tile = try Self.tile(
            width: 96, height: 64, seed: 1, bits: bits, chroma: chroma)
        // libheif 1.15 mirrors 8 bits only.
        let mirror = bits == 8 ? [Self.turns[5]] : []
        for turn in [[], [Self.turns[1]], [Self.turns[3]] + mirror] {
            var heic = SyntheticHEIC(tile)
            heic.properties = turn
            let path = try studio.write(heic.bytes, as: "single.heic")
            #expect(try Self.difference(path, bits: bits) < Double(1 << (bits - 8)))
        }
    }

    @Test func `alpha is what libheif makes of it, turned as the picture`() throws {
        let studio = try Studio()
        var heic = SyntheticHEIC(try Self.tile(width: 96, height: 64, seed: 1))
        heic.alpha = try Self.tile(width: 96, height: 64, seed: 2)
        let path = try studio.write(heic.bytes, as: "alpha.heic")
        #expect(try Self.difference(path) < 1)
        let header = try VipsTurn.shared { try PhotoFile(at: path).header() }
        #expect(header.hasAlpha && header.bands == 4)
        heic.properties = [Self.turns[1]]
        let turned = try studio.pixels(
            of: studio.write(heic.bytes, as: "turned.heic"), [Filter("CIColorInvert")])
        #expect((turned.width, turned.height, turned.bands) == (64, 96, 4))
    }

    @Test func `colours that were multiplied by alpha are divided by it`() throws {
        let studio = try Studio()
        var heic = SyntheticHEIC(try Self.tile(width: 96, height: 64, seed: 1))
        heic.alpha = try Self.tile(width: 96, height: 64, seed: 2)
        func codes() throws -> [UInt8] {
            let path = try studio.write(heic.bytes, as: "alpha.heic")
            return try VipsTurn.shared { try PhotoFile(at: path).image(failOn: .error).pixels() }
        }
        let plain = try codes()
        heic.isPremultiplied = true
        let divided = try codes()
        for pixel in stride(from: 0, to: plain.count, by: 4) {
            let alpha = Double(plain[pixel + 3])
            #expect(divided[pixel + 3] == plain[pixel + 3])
            for band in 0..<3 {
                let expected = min(255, Double(plain[pixel + band]) * 255 / alpha)
                #expect(abs(Double(divided[pixel + band]) - expected) <= 0.5)
            }
        }
        #expect(divided != plain)
    }

    @Test func `a tile of which a part is missing is damaged`() throws {
        let studio = try Studio()
        var tiles = try (0..<4).map { try Self.tile(width: 128, height: 128, seed: $0) }
        // The slice of a smaller picture ends before this one does, without an error.
        let small = try Self.tile(width: 64, height: 128, seed: 1)
        tiles[2].unit = small.unit
        let path = try studio.write(
            SyntheticHEIC(tiles, columns: 2, width: 256, height: 256).bytes, as: "part.heic")
        for format in [Recipe.Format.jpeg, .png] {
            let failure = #expect(throws: Failure.self) {
                try studio.render(path, [Filter("CISepiaTone")], format: format)
            }
            #expect(failure?.code == .damagedPhoto, "\(String(describing: failure))")
        }
    }

    @Test func `matrix and range are those of colr before those of the stream`() throws {
        let studio = try Studio()
        var heic = SyntheticHEIC(try Self.tile(width: 96, height: 64, seed: 1))
        var seen: Set<[UInt8]> = []
        for matrix in [1, 6, 9] {
            for range: UInt8 in [0, 0x80] {
                heic.properties = [
                    Bytes.box(
                        "colr",
                        Bytes.text("nclx") + Bytes.big(1, 2) + Bytes.big(13, 2)
                            + Bytes.big(matrix, 2) + [range])
                ]
                let path = try studio.write(heic.bytes, as: "colour.heic")
                seen.insert(
                    try VipsTurn.shared { try PhotoFile(at: path).image(failOn: .error).pixels() })
                // libheif 1.15 computes limited range with fewer digits.
                #expect(try Self.difference(path) < 1.5, "matrix \(matrix), range \(range)")
            }
        }
        #expect(seen.count == 6)
    }

    @Test func `any number of threads and heights of tiles give the same bytes`() throws {
        let studio = try Studio()
        let tiles = try (0..<4).map { try Self.tile(width: 64, height: 64, seed: $0) }
        let path = try studio.write(
            SyntheticHEIC(tiles, columns: 2, width: 128, height: 127).bytes, as: "grid.heic")
        let one = try studio.pixels(of: path, [Filter("CISepiaTone")], stem: "one", threads: 1)
        let four = try studio.pixels(of: path, [Filter("CISepiaTone")], stem: "four", threads: 4)
        #expect(one.bytes == four.bytes)
    }

    @Test(arguments: ["iovl", "iden", "jpeg"])
    func `kinds of pictures that no phone writes are refused by name`(_ kind: String) throws {
        let studio = try Studio()
        var heic = SyntheticHEIC(try Self.tile(width: 64, height: 64, seed: 1))
        heic.kind = kind
        let path = try studio.write(heic.bytes, as: "kind.heic")
        let failure = #expect(throws: Failure.self) {
            try studio.render(path, [Filter("CISepiaTone")])
        }
        #expect(failure?.code == .unsupportedFormat)
        #expect(failure?.message.contains("'\(kind)'") == true)
    }

    @Test func `a configuration that the decoder refuses names its version`() throws {
        let studio = try Studio()
        var tile = try Self.tile(width: 64, height: 64, seed: 1)
        // The profile and parameter sets of nobody.
        for index in 30..<tile.configuration.count { tile.configuration[index] = 0xFF }
        let path = try studio.write(SyntheticHEIC(tile).bytes, as: "strange.heic")
        let failure = #expect(throws: Failure.self) {
            try studio.render(path, [Filter("CISepiaTone")])
        }
        #expect(failure?.code == .unsupportedFormat)
        #expect(failure?.message.contains("libavcodec \(VideoDecoder.version)") == true)
    }

    @Test func `a file that ends early is damaged`() throws {
        let studio = try Studio()
        let tiles = try (0..<4).map { try Self.tile(width: 64, height: 64, seed: $0) }
        let whole = SyntheticHEIC(tiles, columns: 2, width: 128, height: 128).bytes
        for count in [whole.count - 1, whole.count * 3 / 4, 300] {
            let path = try studio.write(Array(whole.prefix(count)), as: "cut.heic")
            let failure = #expect(throws: Failure.self) {
                try studio.render(path, [Filter("CISepiaTone")])
            }
            #expect(failure?.code == .damagedPhoto, "\(count): \(String(describing: failure))")
        }
    }

    @Test func `small pictures of it are shrunk copies`() throws {
        let studio = try Studio()
        let tiles = try (0..<6).map { try Self.tile(width: 64, height: 64, seed: $0) }
        var heic = SyntheticHEIC(tiles, columns: 3, width: 180, height: 100)
        heic.properties = [Self.turns[3]]
        let path = try studio.write(heic.bytes, as: "grid.heic")
        let recipe = try Recipe(filters: [Filter("CISepiaTone")], output: .init(format: .png))
        let paths = try studio.render(path, recipe, sides: [90, 20], stem: "small")
        let sizes = try paths.map { path -> [Int] in
            let picture = try Picture(path, loader: "pngload")
            return [picture.width, picture.height]
        }
        #expect(sizes == [[50, 90], [11, 20]])
    }

    /// libvips shrinks a wide picture in pieces that each begin at the top.
    @Test(arguments: [[256], [64], [300, 64]])
    func `small pictures of wide ones read each row once`(_ sides: [Int]) throws {
        let studio = try Studio()
        let tile = try Self.tile(width: 64, height: 64, seed: 1)
        let tiles = [SyntheticHEIC.Tile](repeating: tile, count: 20 * 14)
        let path = try studio.write(
            SyntheticHEIC(tiles, columns: 20, width: 1_270, height: 890).bytes, as: "wide.heic")
        let recipe = try Recipe(filters: [Filter("CISepiaTone")], output: .init(format: .png))
        let paths = try studio.render(path, recipe, sides: sides, stem: "small")
        for (path, side) in zip(paths, sides) {
            #expect(try Picture(path, loader: "pngload").width == side)
        }
    }

    /// Harm at random, through a real child: a picture or a typed failure, and the child lives.
    @Test func `one that was tampered with is a picture or a typed failure`() async throws {
        let studio = try Studio()
        let tiles = try (0..<4).map { try Self.tile(width: 64, height: 64, seed: $0) }
        var heic = SyntheticHEIC(tiles, columns: 2, width: 120, height: 100)
        heic.properties = [Self.turns[1]]
        let whole = heic.bytes
        let listed = whole.count - tiles.reduce(0) { $0 + $1.unit.count }
        var random = SeededGenerator()
        random.printSeed()
        var child = try Child()
        var pictures = 0
        let mutants = Volume.trials(byDay: 60, byNight: 2_000)
        for number in 0..<mutants {
            var bytes = whole
            let reach = number % 2 == 0 ? listed : bytes.count
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                bytes[Int.random(in: 0..<reach, using: &random)] =
                    [0, 1, 0x7F, 0x80, 0xFF, UInt8.random(in: 0...255, using: &random)]
                    .randomElement(using: &random) ?? 0
            }
            if number % 10 == 9 {
                bytes.removeLast(Int.random(in: 1..<bytes.count - 40, using: &random))
            }
            let path = try studio.write(bytes, as: "harmed.heic")
            switch try child.ask(.render(path, to: studio.path("out"))) {
            case .rendered: pictures += 1
            case .failed(let failure), .refused(let failure):
                #expect(failure.code != .internalError, "\(number): \(failure)")
            case .none:
                let end = try await child.waitForEnd()
                Issue.record("\(number): the child ended: \(end)")
                child = try Child()
            default: Issue.record("\(number): an answer of another kind")
            }
        }
        #expect(pictures * 10 > mutants)
    }

    // MARK: Real photos

    private static let photos: [String] = {
        guard let corpus = Studio.corpus else { return [] }
        return ["IMG_0102.HEIC", "example.heic", "RGBA_8__128x128.heif", "L_8__128x128.heif"].map {
            corpus + "/photos/heic/" + $0
        }
    }()

    @Test(arguments: photos) func `real photos are what libheif makes of them`(_ path: String)
        throws
    {
        // One of them has limited range, which libheif computes with few digits: 1.3.
        #expect(try Self.difference(path) < 1.5, "\(path)")
    }

    @Test(.enabled(if: Studio.corpus != nil))
    func `photos that libheif refuses open`() throws {
        let studio = try Studio()
        let path = try #require(Studio.corpus) + "/photos/aae/IMG_3582/IMG_3582.HEIC"
        let report = try studio.render(path, [Filter("CISepiaTone")], format: .jpeg)
        let size = report.output.size
        // By its irot, as its EXIF says too.
        #expect(size.width * size.height == 5_712 * 4_284)
        #expect(report.header.hasProfile && report.header.rowsAtOnce < size.height)
    }
}
