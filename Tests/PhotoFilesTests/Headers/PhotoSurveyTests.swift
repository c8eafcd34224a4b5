import Edits
import PhotoFiles
import MinilabTesting
import RenderProtocol
import Testing

@Suite("Photo survey") struct PhotoSurveyTests {
    // MARK: JPEG

    private let frame: [UInt8] =
        [8] + Bytes.big(300, 2) + Bytes.big(400, 2) + [3] + [UInt8](repeating: 0, count: 9)
    private let threeComponents: [UInt8] = [3, 1, 0, 2, 0, 3, 0, 0, 63, 0]

    @Test func `a JPEG's size, profile and metadata are those of its segments`() {
        let bytes: [UInt8] =
            [0xFF, 0xD8] + Bytes.segment(0xE1, [UInt8](repeating: 1, count: 500))
            + Bytes.segment(
                0xE2, Bytes.text("ICC_PROFILE\0\u{1}\u{1}") + [UInt8](repeating: 7, count: 900))
            + Bytes.segment(0xC0, frame) + Bytes.segment(0xDA, threeComponents)
        let survey = CountedFile(bytes).survey(.jpeg)
        #expect(survey.size == PixelSize(width: 400, height: 300))
        #expect(survey.profileBytes == 900)
        #expect((500..<900).contains(survey.metadataBytes))
        #expect(survey.scans == 1)
    }

    /// Coarse to fine, with restarts and stuffed bytes among the pixels.
    private func progressive(scans: Int, scanBytes: Int = 40) -> [UInt8] {
        var bytes: [UInt8] = [0xFF, 0xD8] + Bytes.segment(0xC2, frame)
        for _ in 0..<scans {
            bytes += Bytes.segment(0xDA, threeComponents)
            for index in 0..<scanBytes {
                bytes += [UInt8(truncatingIfNeeded: index), 0xFF, 0, 0xFF, 0xD3]
            }
        }
        return bytes + [0xFF, 0xD9]
    }

    @Test(arguments: [1, 2, 10, 500]) func `scans of a progressive JPEG are counted`(_ scans: Int) {
        #expect(CountedFile(progressive(scans: scans)).survey(.jpeg).scans == scans)
    }

    @Test func `counting ends at the first scan too many`() {
        let file = CountedFile(progressive(scans: 10_000, scanBytes: 400))
        #expect(file.survey(.jpeg).scans == 501)
        #expect(file.bytesRead < file.length / 10)
    }

    @Test func `the pixels of a photo of one scan are not read`() {
        let file = CountedFile(
            [0xFF, 0xD8] + Bytes.segment(0xC0, frame) + Bytes.segment(0xDA, threeComponents),
            length: 4 << 30)
        #expect(file.survey(.jpeg).scans == 1)
        #expect(file.bytesRead < 10_000)
    }

    // MARK: PNG

    private func png(_ width: Int, _ height: Int, _ chunks: [UInt8]) -> [UInt8] {
        [0x89, 0x50, 0x4E, 0x47, 13, 10, 26, 10]
            + Bytes.chunk("IHDR", Bytes.big(width) + Bytes.big(height) + [8, 2, 0, 0, 0]) + chunks
            + Bytes.chunk("IDAT", [])
    }

    @Test func `a PNG's sides are taken as they stand, however long`() {
        let survey = CountedFile(png(65_536, 65_536, [])).survey(.png)
        #expect(survey.size == PixelSize(width: 65_536, height: 65_536))
        let absurd = CountedFile(png(0xFFFF_FFFF, 0xFFFF_FFFF, [])).survey(.png)
        #expect(throws: Failure.self) { try absurd.check("a.png") }
    }

    @Test func `a profile and texts are as long as they inflate to`() {
        let zeros = Bytes.deflatedZeros(3_000_000)
        #expect(zeros.count < 10_000)
        for (chunk, isProfile) in [
            (Bytes.chunk("iCCP", Bytes.text("p\0\0") + zeros), true),
            (Bytes.chunk("zTXt", Bytes.text("key\0\0") + zeros), false),
            (Bytes.chunk("iTXt", Bytes.text("key\0\u{1}\0en\0word\0") + zeros), false),
        ] {
            let survey = CountedFile(png(10, 10, chunk)).survey(.png)
            let length = isProfile ? survey.profileBytes : survey.metadataBytes
            #expect((3_000_000..<3_001_000).contains(length))
        }
    }

    @Test func `a chunk that says it is longer than its file counts as long as it says`() {
        let chunk = Bytes.big(1 << 30) + Bytes.text("sPLT") + [1, 2, 3]
        let survey = CountedFile(png(9, 9, chunk)).survey(.png)
        let failure = #expect(throws: Failure.self) { try survey.check("a.png") }
        #expect(failure?.message.contains("limit.metadata") == true)
    }

    @Test func `inflating ends behind the limit`() {
        let survey = CountedFile(
            png(10, 10, Bytes.chunk("iCCP", Bytes.text("p\0\0") + Bytes.deflatedZeros(64 << 20)))
        ).survey(.png)
        #expect((8_000_001..<8_200_000).contains(survey.profileBytes))
    }

    // MARK: GIF

    private func gif(frames: Int, end: [UInt8] = [0x3B]) -> [UInt8] {
        let frame: [UInt8] =
            [0x21, 0xF9, 4, 0, 1, 0, 0, 0, 0x2C] + Bytes.little(2, 2) + Bytes.little(3, 2)
            + Bytes.little(20, 2) + Bytes.little(30, 2) + [0x80] + [UInt8](repeating: 0, count: 6)
            + [2, 3, 1, 2, 3, 1, 9, 0]
        return Bytes.text("GIF89a") + Bytes.little(9_000, 2) + Bytes.little(9_000, 2) + [
            0x91, 0, 0,
        ]
            + [UInt8](repeating: 0, count: 12) + (0..<frames).flatMap { _ in frame } + end
    }

    @Test func `frames of a GIF are counted, and its size is what they cover`() {
        let survey = CountedFile(gif(frames: 17)).survey(.gif)
        #expect(survey.frames == 17)
        #expect(survey.size == PixelSize(width: 22, height: 33))
    }

    @Test func `a GIF without end is left at the first frame too many`() {
        let file = CountedFile(gif(frames: 20_000, end: []))
        #expect(file.survey(.gif).frames == 3_601)
        #expect(file.bytesRead < file.length / 2)
    }

    // MARK: TIFF

    private func tiff(
        isBig: Bool = false, next: [Int], entries: [(tag: Int, type: Int, count: Int, value: Int)]
    ) -> [UInt8] {
        let size = isBig ? 8 : 4
        let list = entries.flatMap {
            Bytes.little($0.tag, 2) + Bytes.little($0.type, 2) + Bytes.little($0.count, size)
                + Bytes.little($0.value, size)
        }
        let header: [UInt8] =
            isBig
            ? Bytes.text("II") + [43, 0, 8, 0, 0, 0] + Bytes.little(16, 8)
            : Bytes.text("II") + [42, 0] + Bytes.little(8)
        return header
            + next.flatMap {
                Bytes.little(entries.count, isBig ? 8 : 2) + list + Bytes.little($0, size)
            }
    }

    @Test(arguments: [false, true]) func `a TIFF's first page says how large it is`(isBig: Bool) {
        let bytes = tiff(
            isBig: isBig, next: [0],
            entries: [
                (256, 4, 1, 70_000), (257, 3, 1, 500), (34_675, 7, 3_144, 999), (700, 1, 800, 9),
            ])
        let survey = CountedFile(bytes, length: 10_000).survey(.tiff)
        #expect(survey.size == PixelSize(width: 70_000, height: 500))
        #expect(survey.pages == 1 && survey.profileBytes == 3_144)
        #expect((802..<2_000).contains(survey.metadataBytes))
    }

    @Test func `directories are followed, but not round and round`() {
        // Each of 18 bytes from 8 on.
        let chain = tiff(next: (1..<2_000).map { 8 + 18 * $0 } + [0], entries: [(256, 3, 1, 5)])
        #expect(CountedFile(chain).survey(.tiff).pages == 1_001)
        let circle = tiff(next: [26, 8], entries: [(256, 3, 1, 5)])
        #expect(CountedFile(circle).survey(.tiff).pages == 2)
    }

    @Test(arguments: [(34_675, RenderLimit.profile), (700, .metadata), (273, .metadata)])
    func `values of 4 GB are refused, if there are as many bytes`(_ tag: Int, _ limit: RenderLimit)
    {
        let bytes = tiff(next: [0], entries: [(tag, 4, 0xFFFF_FFFF, 64)])
        #expect(throws: Never.self) { try CountedFile(bytes).survey(.tiff).check("a.tif") }
        let file = CountedFile(bytes, length: 4 << 30)
        let failure = #expect(throws: Failure.self) { try file.survey(.tiff).check("a.tif") }
        #expect(failure?.code == .exceedsLimit)
        #expect(failure?.message.contains(limit.key) == true)
        #expect(file.bytesRead < 100_000)
    }

    @Test func `channels beside the colours are told apart`() {
        func picture(_ photometric: Int, _ samples: Int, _ extras: [Int]) -> TIFFPicture? {
            // Two numbers of 16 bits fit into an entry.
            let extra = extras.enumerated().reduce(0) { $0 | $1.element << (16 * $1.offset) }
            let entries =
                [
                    (256, 3, 1, 9), (257, 3, 1, 8), (258, 3, 1, 8), (262, 3, 1, photometric),
                    (277, 3, 1, samples),
                ] + (extras.isEmpty ? [] : [(338, 3, extras.count, extra)])
            return CountedFile(tiff(next: [0], entries: entries)).survey(.tiff).tiff
        }
        for (photometric, samples, extras, alpha, spare) in [
            (2, 3, [], nil, 0), (2, 4, [], 3, 0), (2, 4, [0], 3, 0), (2, 4, [2], 3, 0),
            (2, 5, [2, 0], 3, 1), (2, 5, [0, 1], 4, 1), (2, 5, [0, 0], nil, 2), (2, 5, [], nil, 2),
            (1, 2, [1], 1, 0), (0, 3, [2, 0], 1, 1), (5, 4, [], nil, 0), (5, 6, [0, 2], 5, 1),
        ] as [(Int, Int, [Int], Int?, Int)] {
            let found = picture(photometric, samples, extras)
            #expect(found?.alpha?.channel == alpha, "\(photometric), \(samples), \(extras)")
            #expect(found?.spareChannels == spare, "\(photometric), \(samples), \(extras)")
        }
        #expect(picture(2, 5, [0, 1])?.alpha?.isAssociated == true)
        // A palette has one channel of another meaning.
        #expect(picture(3, 1, [])?.colours == nil)
    }

    @Test func `the picture is the first page that is no smaller copy`() {
        func page(_ kind: Int, _ width: Int, below: Int = 0, next: Int) -> [UInt8] {
            let entries = [(254, kind), (256, width), (257, 5)] + (below > 0 ? [(330, below)] : [])
            return Bytes.little(entries.count, 2)
                + entries.flatMap {
                    Bytes.little($0.0, 2) + Bytes.little(4, 2) + Bytes.little(1)
                        + Bytes.little($0.1)
                } + Bytes.little(next)
        }
        let head = Bytes.text("II") + [42, 0] + Bytes.little(8)
        let lengths = (3 * 12 + 6, 4 * 12 + 6)
        let second = head + page(1, 4, next: 8 + lengths.0) + page(0, 44, next: 0)
        let below =
            head + page(1, 4, below: 8 + lengths.1, next: 0) + page(0, 45, next: 0)
        let mask = head + page(4, 4, next: 8 + lengths.0) + page(1, 6, next: 0)
        for (bytes, width, isBelow) in [(second, 44, false), (below, 45, true), (mask, 4, false)] {
            let survey = CountedFile(bytes).survey(.tiff)
            #expect(survey.size?.width == width && survey.tiff?.isBelow == isBelow)
        }
        // A directory that lies below itself is read once more, and no oftener.
        let circle = head + page(1, 4, below: 8, next: 8)
        #expect(CountedFile(circle).survey(.tiff).pages == 1)
    }

    @Test(arguments: [(8, nil), (12, nil), (16, "16 bits")] as [(UInt8, String?)])
    func `a JPEG of another number of bits is named`(bits: UInt8, name: String?) {
        let frame = [bits] + self.frame.dropFirst()
        let bytes: [UInt8] =
            [0xFF, 0xD8] + Bytes.segment(0xC1, frame) + Bytes.segment(0xDA, threeComponents)
        let survey = CountedFile(bytes).survey(.jpeg)
        #expect(survey.isDeepJPEG == (bits == 12))
        #expect(survey.obstacle.map { $0.contains(name ?? "nothing") } ?? (name == nil))
    }

    @Test func `the chunks of a PNG that declare colours are read`() {
        let chunks =
            Bytes.chunk("cICP", [12, 13, 0, 1]) + Bytes.chunk("gAMA", Bytes.big(45_455))
            + Bytes.chunk("cHRM", (1...8).flatMap { Bytes.big($0) }) + Bytes.chunk("sRGB", [0])
        let colour = CountedFile(png(9, 9, chunks)).survey(.png).pngColour
        #expect(colour.codes?.primaries == 12 && colour.codes?.transfer == 13)
        #expect(colour.gamma == 45_455 && colour.chromaticities == Array(1...8))
        #expect(colour.isSRGB && !colour.hasProfile)
        let short = Bytes.chunk("cICP", [12]) + Bytes.chunk("cHRM", [1, 2, 3])
        let none = CountedFile(png(9, 9, short)).survey(.png).pngColour
        #expect(none.codes == nil && none.chromaticities == nil)
    }

    // MARK: WebP

    @Test func `a WebP's canvas, frames and profile are found`() {
        let bytes =
            Bytes.text("RIFF") + Bytes.little(0) + Bytes.text("WEBP")
            + Bytes.riff("VP8X", [0, 0, 0, 0] + Bytes.little(16_382, 3) + Bytes.little(99, 3))
            + Bytes.riff("ICCP", [UInt8](repeating: 0, count: 601))
            + (0..<5).flatMap { _ in Bytes.riff("ANMF", [UInt8](repeating: 0, count: 33)) }
        let survey = CountedFile(bytes).survey(.webp)
        #expect(survey.size == PixelSize(width: 16_383, height: 100))
        #expect(survey.frames == 5 && survey.profileBytes == 601)
    }

    @Test(arguments: ["VP8 ", "VP8L", "ALPH"])
    func `pixels of an extended WebP are no metadata`(chunk: String) {
        func survey(_ name: String, bytes: Int) -> PhotoSurvey {
            CountedFile(
                Bytes.text("RIFF") + Bytes.little(0) + Bytes.text("WEBP")
                    + Bytes.riff("VP8X", [0, 0, 0, 0] + Bytes.little(99, 3) + Bytes.little(99, 3))
                    + Bytes.riff(name, [UInt8](repeating: 0, count: bytes))
            ).survey(.webp)
        }
        let pixels = survey(chunk, bytes: 50_000)
        #expect(pixels.size == PixelSize(width: 100, height: 100))
        #expect(pixels.metadataBytes == survey(chunk, bytes: 0).metadataBytes)
        #expect(survey("EXIF", bytes: 50_000).metadataBytes >= 50_000)
    }

    // MARK: HEIF and JPEG XL

    @Test func `a HEIF's size is its primary picture's`() {
        func ispe(_ side: Int) -> [UInt8] {
            Bytes.box("ispe", Bytes.big(0) + Bytes.big(side) + Bytes.big(side))
        }
        let properties =
            Bytes.box(
                "ipco",
                ispe(50_000) + ispe(17_000)
                    + Bytes.box("colr", Bytes.text("prof") + [UInt8](repeating: 0, count: 700)))
            + Bytes.box("ipma", Bytes.big(0) + Bytes.big(2) + [0, 1, 1, 1, 0, 2, 2, 0x83, 2])
        let items = Bytes.box(
            "iinf",
            Bytes.big(0) + Bytes.big(1, 2)
                + Bytes.box("infe", [2, 0, 0, 0, 0, 3, 0, 0] + Bytes.text("Exif\0")))
        // Two extents of one item, of 5,000 bytes each.
        let locations = Bytes.box(
            "iloc",
            Bytes.big(0) + [0x44, 0, 0, 1, 0, 3, 0, 0, 0, 2]
                + (0..<2).flatMap { _ in Bytes.big(0) + Bytes.big(5_000) })
        let bytes =
            Bytes.box("ftyp", Bytes.text("heic\0\0\0\0"))
            + Bytes.box(
                "meta",
                Bytes.big(0) + Bytes.box("pitm", Bytes.big(0) + [0, 2])
                    + Bytes.box("iprp", properties) + items + locations)
        let survey = CountedFile(bytes, length: 20_000).survey(.heif)
        #expect(survey.size == PixelSize(width: 17_000, height: 17_000))
        #expect(survey.profileBytes == 700)
        #expect((10_000..<11_000).contains(survey.metadataBytes))
    }

    @Test(arguments: [(40, 40, 1), (80, 40, 7), (256, 144, 5)])
    func `a small JPEG XL's size is read bit by bit`(_ width: Int, _ height: Int, _ ratio: Int) {
        // Lowest first: 1 for small, five of height, three of ratio.
        let header = 1 | (height / 8 - 1) << 1 | ratio << 6
        let codestream: [UInt8] = [0xFF, 0x0A] + Bytes.little(header, 2) + [0, 0, 0, 0]
        #expect(
            CountedFile(codestream).survey(.jxl).size == PixelSize(width: width, height: height))
        let boxed =
            Bytes.box("JXL ", [13, 10, 0x87, 10])
            + Bytes.box("ftyp", Bytes.text("jxl \0\0\0\0jxl "))
            + Bytes.box("jxlp", Bytes.big(0) + codestream)
        #expect(CountedFile(boxed).survey(.jxl).size == PixelSize(width: width, height: height))
    }

    /// Bits, the lowest first, as numbers of so many.
    private static func bits(_ numbers: [(value: Int, count: Int)]) -> [UInt8] {
        var bits: [Int] = []
        for (value, count) in numbers { bits += (0..<count).map { value >> $0 & 1 } }
        return stride(from: 0, to: bits.count, by: 8).map { start in
            UInt8(bits[start...].prefix(8).enumerated().reduce(0) { $0 | $1.element << $1.offset })
        }
    }

    /// A JPEG XL of 64 × 64 with channels beside colour.
    private static func jxl(
        extra: [[(value: Int, count: Int)]], fields: [(value: Int, count: Int)] = [(0, 1)],
        colours: [(value: Int, count: Int)] = []
    ) -> [UInt8] {
        let size: [(value: Int, count: Int)] = [(1, 1), (7, 5), (1, 3)]
        // Not all defaults, eight bits, small numbers.
        let head: [(value: Int, count: Int)] =
            size + [(0, 1)] + fields + [(0, 1), (0, 2), (1, 1)]
            + (extra.count < 2 ? [(extra.count, 2)] : [(2, 2), (extra.count - 2, 4)])
        return [0xFF, 0x0A] + bits(head + extra.flatMap(\.self) + colours) + [0, 0]
    }

    /// A channel of a kind, of eight bits, with a name of three letters.
    private static func channel(_ kind: Int) -> [(value: Int, count: Int)] {
        [(0, 1)] + (kind < 2 ? [(kind, 2)] : [(2, 2), (kind - 2, 4)])
            + [(0, 1), (0, 2), (0, 2), (1, 2), (3, 4), (0x636261, 24)]
            + (kind == 0 ? [(1, 1)] : kind == 2 ? [(0, 64)] : [])
    }

    @Test func `a JPEG XL with black or spot colour is told from its header`() {
        func obstacle(_ bytes: [UInt8]) -> String? { CountedFile(bytes).survey(.jxl).obstacle }
        let (alpha, depth, spot, black) = (
            Self.channel(0), Self.channel(1), Self.channel(2), Self.channel(4)
        )
        #expect(obstacle(Self.jxl(extra: [black]))?.contains("a channel of black") == true)
        #expect(obstacle(Self.jxl(extra: [alpha, spot, black]))?.contains("2 channels") == true)
        // An orientation, and a size to be shown at, before them.
        let fields: [(value: Int, count: Int)] = [(1, 1), (5, 3), (1, 1), (1, 1), (7, 5), (1, 3)]
        #expect(obstacle(Self.jxl(extra: [black], fields: fields + [(0, 2)])) != nil)
        #expect(obstacle(Self.jxl(extra: [alpha])) == nil)
        #expect(obstacle(Self.jxl(extra: [alpha, depth])) == nil)
        #expect(throws: Failure.self) {
            try CountedFile(Self.jxl(extra: [black])).survey(.jxl).check("a.jxl")
        }
    }

    @Test(arguments: [(16, "PQ"), (18, "HLG"), (13, nil), (1, nil)] as [(Int, String?)])
    func `a photo that is HDR alone is told from its header, by name`(
        transfer: Int, name: String?
    ) throws {
        let nclx =
            Bytes.text("nclx") + Bytes.big(9, 2) + Bytes.big(transfer, 2) + Bytes.big(9, 2) + [0x80]
        let properties = Bytes.box("ipco", Bytes.box("colr", nclx))
        let uses = Bytes.box("ipma", Bytes.big(0) + Bytes.big(1) + [0, 1, 1, 1])
        let heif =
            Bytes.box("ftyp", Bytes.text("heic") + Bytes.big(0))
            + Bytes.box(
                "meta",
                Bytes.big(0) + Bytes.box("pitm", Bytes.big(0) + [0, 1])
                    + Bytes.box("iprp", properties + uses))
        let png =
            [0x89, 0x50, 0x4E, 0x47, 13, 10, 26, 10]
            + Bytes.big(4) + Bytes.text("cICP") + [9, UInt8(transfer), 0, 1] + Bytes.big(0)
        // XYB not coded, no defaults, no profile, RGB, D65, primaries of BT.2100, no exponent.
        let curve =
            transfer < 2
            ? [(transfer, 2)]
            : transfer < 18 ? [(2, 2), (transfer - 2, 4)] : [(3, 2), (transfer - 18, 6)]
        let colours: [(value: Int, count: Int)] =
            [(0, 1), (0, 1), (0, 1), (0, 2), (1, 2), (2, 2), (7, 4), (0, 1)]
        let jxl = Self.jxl(
            extra: [], colours: colours + curve.map { (value: $0.0, count: $0.1) })
        for (format, bytes) in [(PhotoFormat.heif, heif), (.png, png), (.jxl, jxl)] {
            let survey = CountedFile(bytes).survey(format)
            #expect((survey.obstacle != nil) == (name != nil), "\(format)")
            guard let name else { continue }
            let failure = #expect(throws: Failure.self) { try survey.check("a photo") }
            #expect(failure?.code == .unsupportedFormat)
            #expect(failure?.message.contains("\(name) (H.273 transfer \(transfer))") == true)
            #expect(failure?.message.contains("exported as SDR") == true)
        }
    }

    @Test(arguments: [(34_892, 52_546, 0, true), (32_803, 7, 0, false), (6, 52_546, 1, false)])
    func `a DNG whose photo is JPEG XL is told from its directories`(
        photometric: Int, compression: Int, subfileType: Int, isRefused: Bool
    ) {
        func entry(_ tag: Int, _ type: Int, _ count: Int, _ value: Int) -> [UInt8] {
            Bytes.little(tag, 2) + Bytes.little(type, 2) + Bytes.little(count, 4)
                + Bytes.little(value, 4)
        }
        let first = entry(254, 4, 1, 1) + entry(259, 3, 1, 7) + entry(330, 4, 2, 50)
        let photo =
            entry(254, 4, 1, subfileType) + entry(259, 3, 1, compression)
            + entry(262, 3, 1, photometric)
        var bytes = Bytes.text("II") + Bytes.little(42, 2) + Bytes.little(8, 4)
        bytes += Bytes.little(3, 2) + first + Bytes.little(0, 4)
        // At 50: the offsets of the directories below, the first one again among them.
        bytes += Bytes.little(58, 4) + Bytes.little(8, 4)
        bytes += Bytes.little(3, 2) + photo + Bytes.little(0, 4)
        #expect((CountedFile(bytes).survey(.raw).obstacle != nil) == isRefused)
    }

    // MARK: Anything

    @Test(arguments: PhotoFormat.allCases)
    func `what is cut off anywhere, or noise, is counted as far as it goes`(_ format: PhotoFormat) {
        let samples: [[UInt8]] = [
            progressive(scans: 3), gif(frames: 3),
            png(9, 9, Bytes.chunk("iCCP", [0, 0] + Bytes.deflatedZeros(99))),
            tiff(next: [26, 8], entries: [(256, 3, 1, 5)]),
            tiff(isBig: true, next: [0], entries: [(700, 1, 8, 0)]),
        ]
        for bytes in samples {
            for length in 0..<bytes.count {
                let survey = CountedFile(Array(bytes.prefix(length))).survey(format)
                #expect(survey.fileBytes == length)
            }
        }
    }
}
