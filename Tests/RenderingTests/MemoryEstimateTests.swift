import Edits
import Filters
import PhotoFiles
import RenderProtocol
import Testing

@testable import Rendering

@Suite("Estimate of memory") struct MemoryEstimateTests {
    private func header(
        _ format: PhotoFormat = .jpeg, _ width: Int = 6000, _ height: Int = 4000, bands: Int = 3,
        bits: Int = 8, orientation: Int = 1, rowsAtOnce: Int = 1, hasWholeBlocks: Bool = false
    ) -> PhotoHeader {
        PhotoHeader(
            format: format, storedSize: PixelSize(width: width, height: height),
            orientation: orientation, bands: bands, bitsPerSample: bits, hasAlpha: bands == 4,
            hasProfile: false, chroma: [.jpeg, .heif].contains(format) ? .half : nil,
            rowsAtOnce: rowsAtOnce, hasWholeBlocks: hasWholeBlocks)
    }

    private func plan(
        _ header: PhotoHeader, _ filters: [Filter] = [], format: Recipe.Format? = nil,
        progressive: Bool = false, memoryMax: Int? = nil,
        usual: MemoryRoom = MemoryRoom()
    ) throws -> RenderPlan {
        try Planner.plan(within: memoryMax, from: usual) { room throws(Failure) in
            try Planner.plan(
                Recipe(filters: filters, output: .init(format: format, progressive: progressive)),
                for: header, room: room,
                losslessObstacle: header.format == .jpeg ? { _ in nil } : nil,
                resources: .none)
        }.plan
    }

    private func megabytes(_ plan: RenderPlan) -> Int { plan.estimate.memoryBytes / 1_000_000 }

    @Test(arguments: PhotoFormat.allCases)
    func `a larger photo never needs less, whatever it is stored as`(_ format: PhotoFormat) throws {
        let recipes: [[Filter]] = [
            [], [try Filter("CISepiaTone")], [try Filter("CIGaussianBlur")], [try Filter("turn")],
            [try Filter("CIStraightenFilter", ["angle": 0.3])],
            [try Filter("CILanczosScaleTransform", ["scale": 0.5])],
        ]
        for filters in recipes {
            for isWhole in [false, true] {
                // Beyond the bytes that are kept in memory a spool file takes over: then less is needed.
                let needs = try [(600, 400), (1500, 1000), (3000, 2000), (5000, 3500)].map {
                    try plan(
                        header(format, $0, $1, rowsAtOnce: isWhole ? $1 : 1), filters,
                        format: .png
                    ).estimate.memoryBytes
                }
                #expect(needs == needs.sorted(), "\(filters)")
            }
        }
    }

    @Test(arguments: [
        (PhotoFormat.jpeg, 72), (.png, 72), (.heif, 100), (.webp, 90), (.jxl, 150), (.gif, 70),
        (.raw, 300),
    ])
    func `what is decoded as a whole is priced for it`(_ format: PhotoFormat, _ least: Int) throws {
        let filters = [try Filter("CISepiaTone")]
        let rows = try plan(header(format), filters, format: .png)
        let whole = try plan(header(format, rowsAtOnce: 4000), filters, format: .png)
        #expect(megabytes(whole) >= least)
        if [.jpeg, .png].contains(format) { #expect(megabytes(whole) - megabytes(rows) >= 68) }
    }

    /// Peaks in 10⁶ bytes, with libjxl 0.7: of 8.2 and 24 megapixels, lossless, and of 12 with alpha, lossy.
    @Test(arguments: [(3508, 2339, 3, 229), (6000, 4000, 3, 616), (4243, 2829, 4, 644)])
    func `the peak of a JPEG XL of 16 bits lies within 0.6 and 1 of its estimate`(
        _ width: Int, _ height: Int, _ bands: Int, _ peak: Int
    ) throws {
        let header = header(.jxl, width, height, bands: bands, bits: 16, rowsAtOnce: height)
        for name in ["CISepiaTone", "CIGaussianBlur"] {
            let plan = try plan(header, [Filter(name)], format: .png)
            let ratio = Double(peak) * 1e6 / Double(plan.estimate.memoryBytes)
            #expect((0.6...1).contains(ratio), "\(ratio)")
        }
    }

    /// Peaks in 10⁶ bytes of 24 and 12 megapixels in one strip of JPEG data, as YCbCr.
    @Test(arguments: [(6000, 4000, 188), (4243, 2829, 115)])
    func `the peak of a TIFF in one strip of JPEG lies within 0.6 and 1 of its estimate`(
        _ width: Int, _ height: Int, _ peak: Int
    ) throws {
        let header = header(.tiff, width, height, rowsAtOnce: height, hasWholeBlocks: true)
        let plan = try plan(header, [Filter("CISepiaTone")], format: .png)
        let ratio = Double(peak) * 1e6 / Double(plan.estimate.memoryBytes)
        #expect((0.6...1).contains(ratio), "\(ratio)")
    }

    @Test func `what is encoded as a whole is priced for it, by its pixels`() throws {
        let filters = [try Filter("CISepiaTone")]
        let plain = megabytes(try plan(header(), filters, format: .png))
        for (format, perPixel) in [(Recipe.Format.webp, 4), (.avif, 8), (.jxl, 12)] {
            let needed = megabytes(try plan(header(), filters, format: format))
            #expect(needed - plain >= 24 * perPixel, "\(format)")
        }
        for format in [Recipe.Format.jpeg, .png] {
            let needed = try plan(header(), filters, format: format, progressive: true)
            #expect(megabytes(needed) - plain >= 68, "\(format)")
        }
    }

    @Test func `what becomes a HEIC is priced by a row of tiles, however tall it is`() throws {
        let filters = [try Filter("CISepiaTone")]
        let low = try plan(header(), filters, format: .heic)
        let png = try plan(header(), filters, format: .png)
        #expect((12...32).contains(megabytes(low) - megabytes(png)))
        let tall = try plan(header(.jpeg, 4000, 12_000), filters, format: .heic)
        let short = try plan(header(.jpeg, 4000, 3000), filters, format: .heic)
        #expect(tall.estimate.memoryBytes == short.estimate.memoryBytes)
    }

    @Test func `a HEIC of tiles is priced by a row of them, however tall it is`() throws {
        let filters = [try Filter("CISepiaTone")]
        let low = try plan(header(.heif, 4000, 3000, rowsAtOnce: 512), filters)
        let tall = try plan(header(.heif, 4000, 30_000, rowsAtOnce: 512), filters)
        #expect(low.estimate.memoryBytes == tall.estimate.memoryBytes)
        let whole = try plan(header(.heif, 4000, 3000, rowsAtOnce: 3000), filters)
        #expect(megabytes(whole) > megabytes(low) + 60)
    }

    /// Highest peaks in 10⁶ bytes of fresh and warm children: tiles of 512² of an iPhone, and 12 MP in one piece by x265;
    /// ops/bench/estimate repeats them.
    @Test(arguments: [
        ("CISepiaTone", 4032, 3024, 512, 45), ("CISepiaTone", 8128, 6096, 512, 48),
        ("CISepiaTone", 16_320, 12_240, 512, 55), ("CISepiaTone", 4000, 3000, 3000, 98),
        ("CIGaussianBlur", 4032, 3024, 512, 49), ("CIGaussianBlur", 8128, 6096, 512, 55),
        ("CIGaussianBlur", 16_320, 12_240, 512, 65), ("CIGaussianBlur", 4000, 3000, 3000, 101),
    ])
    func `the peak of a HEIC lies within 0.6 and 1 of its estimate`(
        _ name: String, _ width: Int, _ height: Int, _ rows: Int, _ peak: Int
    ) throws {
        let header = header(.heif, width, height, rowsAtOnce: rows)
        let plan = try Planner.plan(
            Recipe(filters: [Filter(name)], output: .init(format: .jpeg)), for: header,
            planes: { _ in .half }, resources: .none
        ).plan
        #expect(plan.lane == (name == "CISepiaTone" ? .planes : .stream))
        let ratio = Double(peak) * 1e6 / Double(plan.estimate.memoryBytes)
        #expect((0.6...1).contains(ratio), "\(ratio)")
    }

    @Test func `tall tiles cost two rows of them`() throws {
        let filters = [try Filter("CISepiaTone")]
        let low = try plan(header(.tiff, bits: 16, rowsAtOnce: 64), filters)
        let tall = try plan(header(.tiff, bits: 16, rowsAtOnce: 1024), filters)
        let more = tall.estimate.memoryBytes - low.estimate.memoryBytes
        #expect(more == (2 * 1024 - 128) * 6000 * 6)
    }

    /// Peaks of 24 MP of 16 bits, uncompressed, to a TIFF, measured with 4, 8 and 16 threads on a machine of 2 cores: in
    /// units of 1 << 20.
    @Test(arguments: [
        ("CISepiaTone", [49, 65, 93]), ("CINoiseReduction", [59, 79, 119]),
        ("CIMedianFilter", [59, 79, 119]),
    ])
    func `each thread is priced for the tiles that it has`(name: String, peaks: [Int]) throws {
        let needs = try zip([4, 8, 16], peaks).map { threads, peak in
            let needed = try plan(
                header(.tiff, bits: 16), [Filter(name)], usual: MemoryRoom(threads: threads)
            ).estimate.memoryBytes
            #expect(needed >= peak << 20, "\(threads) threads")
            return needed
        }
        #expect(needs == needs.sorted())
    }

    @Test func `a filter is priced by the rows that it really keeps`() throws {
        let box = try Filter("CIBoxBlur", ["radius": 101])
        let definition = try FilterCatalogue.known("CIBoxBlur", at: "filter")
        guard case .neighbourhood(let make) = definition.kernel else {
            Issue.record("a box blur looks at neighbours")
            return
        }
        let side = PixelSize(width: 1000, height: 1000)
        let bytes = RowMemory.bytes(
            of: try make(box, FilterContext(size: side)),
            on: RowFormat(width: 1000, height: 1000, planes: 3))
        // At least the rows that its window looks at, at most a few more.
        #expect((100 * 12_000...140 * 12_000).contains(bytes))
        #expect(
            megabytes(try plan(header(), [Filter("CIBoxBlur", ["radius": 500])]))
                > megabytes(try plan(header(), [Filter("CIBoxBlur", ["radius": 5])])) + 25)
    }

    @Test func `the ladder is climbed down until the render fits`() throws {
        let turn = [try Filter("turn"), try Filter("CISepiaTone")]
        let usual = MemoryRoom(threads: 4, tileHeight: 64)
        let needs = try MemoryRoom.ladder(from: usual).map { room in
            try plan(header(), turn, usual: room).estimate.memoryBytes
        }
        #expect(needs.count == 4)
        // Each rung gives something, for this render.
        #expect(zip(needs, needs.dropFirst()).allSatisfy { $0 > $1 })
        for (rung, needed) in zip(MemoryRung.allCases, needs) {
            let plan = try plan(header(), turn, memoryMax: needed, usual: usual)
            #expect(plan.rung == rung && plan.estimate.memoryBytes == needed)
            #expect(plan.threads == (rung == .usual ? 4 : 1))
            #expect((plan.estimate.spoolBytes > 0) == (rung == .spooled))
            #expect(plan.notes.contains { $0.contains(rung.text) } == (rung != .usual))
        }
    }

    @Test func `a process that is as frugal already has fewer rungs`() {
        let rungs = MemoryRoom.ladder(from: MemoryRoom(threads: 1, tileHeight: 16)).map(\.rung)
        #expect(rungs == [.usual, .spooled])
    }

    @Test func `a JPEG that is turned without loss goes to a spool file when it has to`() throws {
        let turn = [try Filter("turn")]
        let usual = try plan(header(), turn)
        #expect(usual.lane == .lossless && usual.estimate.spoolBytes == 0)
        let held = try plan(header(), turn, memoryMax: 100_000_000)
        #expect(held.lane == .lossless && held.rung == .spooled)
        #expect(held.estimate.spoolBytes >= 72_000_000)
    }

    @Test func `what fits on no rung is refused with the figure that is needed`() throws {
        let whole = header(.heif, 8000, 6000, rowsAtOnce: 6000)
        let needed = try plan(whole, memoryMax: nil, usual: MemoryRoom(tileHeight: 16))
            .estimate.memoryBytes
        let failure = #expect(throws: Failure.self) {
            try plan(whole, memoryMax: 100_000_000)
        }
        #expect(failure?.code == .exceedsMemoryBudget)
        #expect(failure?.description.contains("100 MB") == true)
        #expect(failure?.description.contains("\((needed + 999_999) / 1_000_000) MB") == true)
    }
}
