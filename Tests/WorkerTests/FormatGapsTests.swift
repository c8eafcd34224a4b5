import Edits
import Editing
import Files
import FoundationEssentials
import Glibc
import Logging
import MinilabTesting
import RenderProtocol
import Synchronization
import SystemPackage
import Telemetry
import Testing

@testable import RenderPool

/// A worker and the formats that the libraries of its machine cannot write and read.
@Suite("Formats that do not work") struct FormatGapsTests {
    private let folder: TemporaryFolder
    private let photo: String

    init() throws {
        ignoreBrokenPipes()
        folder = try TemporaryFolder()
        photo = folder.file("in.png")
        try SyntheticPhoto.png(width: 64, height: 48).write(to: URL(filePath: photo))
    }

    private func pool(_ attack: TestAttack?) throws -> RenderPool {
        var child = try Programs.path(of: "minilab-render")
        if let attack {
            let real = try Programs.path(of: "minilab-hostile-child")
            child = try folder.script(
                "child", "\(TestAttack.variable)=\(attack.rawValue) exec '\(real)'")
        }
        return RenderPool(
            settings: RenderSettings(executable: FilePath(child)),
            logger: Logger(label: "test"))
    }

    private func inspect(
        _ path: String, as format: Recipe.Format, _ pool: RenderPool,
        bitDepth: Recipe.BitDepth? = nil
    ) async throws {
        _ = try await pool.inspect(
            PhotoRequest(
                recipe: Recipe(
                    filters: [Filter("CISepiaTone")],
                    output: Recipe.Output(format: format, bitDepth: bitDepth)),
                limits: RenderLimits()),
            RenderFiles(sources: [OpenFile(reading: path)]), for: Borrower(.operator))
    }

    private func inspect(rendition: String, _ pool: RenderPool) async throws {
        let rendition = try Rendition(
            JSONValue(parsing: rendition, as: "rendition"), at: "rendition")
        _ = try await pool.inspect(
            PhotoRequest(
                recipe: Recipe(filters: [Filter("CISepiaTone")]), limits: RenderLimits(),
                outputs: [.full, .init(rendition: rendition, name: "web")]),
            RenderFiles(sources: [OpenFile(reading: photo)]), for: Borrower(.operator))
    }

    @Test func `each format is written and read by a real child`() async throws {
        let pool = try pool(nil)
        #expect(await pool.tryFormats() == FormatGaps())
        let libraries = try await pool.libraries()
        for name in ["libvips", "libheif", "libjxl", "libavcodec", "x265"] {
            let version = libraries.first { $0.name == name }?.version ?? ""
            #expect(version.contains(#/^[0-9]+\.[0-9]+/#), "\(name) \(version)")
        }
        await pool.close()
    }

    @Test func `a format whose library crashes is found at the start, and no other one`()
        async throws
    {
        let pool = try pool(.crashInWebP)
        try await pool.start()
        #expect(await Array(pool.formats.reasons.keys) == [.webp])
        #expect(await pool.idle.isEmpty)

        let failure = await #expect(throws: Failure.self) {
            try await inspect(photo, as: .webp, pool)
        }
        #expect(failure?.code == .formatUnavailable)
        // Other workers are tried first; here the job would fail again.
        #expect(failure?.code.isPermanent == true)
        #expect(failure?.message.contains("died") == true, "\(failure?.message ?? "")")
        try await inspect(photo, as: .jpeg, pool)
        let named = await #expect(throws: Failure.self) {
            try await inspect(rendition: #"{"format":"webp"}"#, pool)
        }
        #expect(named?.code == .formatUnavailable)
        #expect(
            named?.message.hasPrefix("edit.renditions.web: ") == true, "\(named?.message ?? "")")
        await pool.close()
    }

    @Test func `bits that the encoder dies of are refused when a job asks, and only they`()
        async throws
    {
        let pool = try pool(.crashInBitDepth)
        try await pool.start()
        #expect(await pool.formats == FormatGaps())
        for _ in 1...2 {
            let failure = await #expect(throws: Failure.self) {
                try await inspect(photo, as: .avif, pool, bitDepth: .ten)
            }
            #expect(failure?.code == .formatUnavailable)
            #expect(failure?.message.contains("avif of 10 bits") == true)
            #expect(failure?.message.contains("Ask for 8 or 12") == true)
        }
        try await inspect(photo, as: .avif, pool, bitDepth: .twelve)
        // The trial is one for all, and its path is that of each that asks.
        let failure = await #expect(throws: Failure.self) {
            try await inspect(rendition: #"{"format":"avif","bitDepth":10}"#, pool)
        }
        #expect(failure?.code == .formatUnavailable)
        #expect(
            failure?.message.contains("Ask for 8 or 12 as edit.renditions.web.bitDepth") == true,
            "\(failure?.message ?? "")")
        try await inspect(rendition: #"{"format":"avif","bitDepth":12}"#, pool)
        // One that is not required is left out before a child would die of it.
        let optional = try Rendition(
            JSONValue(
                parsing: #"{"format":"avif","bitDepth":10,"required":false}"#, as: "rendition"),
            at: "rendition")
        let missed = try await pool.unwritable(
            PhotoRequest(
                recipe: Recipe(filters: []), limits: RenderLimits(),
                outputs: [.init(rendition: optional, name: "web")]))
        #expect(missed["web"]?.code == .formatUnavailable)
        await pool.close()
    }

    @Test
    func `jobs that ask for the same bits at once wait for one trial, and a killed one is none`()
        async throws
    {
        let deaths = Mutex(0)
        let counting = RenderPool(
            settings: try await pool(.crashInBitDepth).settings,
            logger: Logger(label: "test"),
            metrics: RenderMetrics(
                Metrics { metric, _, labels in
                    guard metric == "minilab_child_ends_total", labels[0].hasPrefix("SIG") else {
                        return
                    }
                    deaths.withLock { $0 += 1 }
                }))
        await withTaskGroup { group in
            for _ in 0..<4 {
                group.addTask {
                    await #expect(throws: Failure.self) {
                        try await inspect(photo, as: .avif, counting, bitDepth: .ten)
                    }
                }
            }
        }
        #expect(deaths.withLock { $0 } == 1)
        await counting.close()

        // A child that never starts is no answer of the encoder, so the next job asks again.
        let absent = RenderPool(
            settings: RenderSettings(executable: "/nowhere/minilab-render"),
            logger: Logger(label: "test"))
        let plan = RenderPlan(
            lane: .stream, orientation: 1, resultSize: PixelSize(width: 4, height: 3), passes: [],
            output: OutputPlan(
                format: .avif, quality: 0.9, chroma: .full, progressive: false, bitDepth: .ten,
                keepsAlpha: false, background: .white, colorSpace: .source, strip: .none))
        for _ in 1...2 {
            let failure = await #expect(throws: Failure.self) {
                try await absent.checkBitDepth(plan)
            }
            #expect(failure?.code == .rendererUnavailable)
        }
        await absent.close()
    }

    /// Debian 12's encoder aborts, or the file has no picture; Debian 13's writes it.
    @Test func `an AVIF of 10 bits is written where the encoder can, and refused elsewhere`()
        async throws
    {
        let pool = try pool(nil)
        let result = try OpenFile.nameless(in: folder.path, name: "out")
        do {
            try await pool.render(
                PhotoRequest(
                    recipe: Recipe(
                        filters: [Filter("CISepiaTone")],
                        output: Recipe.Output(format: .avif, bitDepth: .ten)),
                    limits: RenderLimits()),
                RenderFiles(
                    sources: [OpenFile(reading: photo)], outputs: [result],
                    spool: .nameless(in: folder.path, name: "spool")), for: Borrower(.operator)
            ) { _, _ in }
            // AV1-AVIF §2.2.1, ISO/IEC 23008-12 §6.5.6: bits of each channel of a picture.
            let bytes = result.bytes(from: 0, count: 4_096)
            let box = try #require(bytes.firstRange(of: Array("pixi".utf8)))
            #expect(Array(bytes[box.upperBound...].prefix(8)) == [0, 0, 0, 0, 3, 10, 10, 10])
        } catch let failure as Failure {
            #expect(failure.code == .formatUnavailable, "\(failure)")
        }
        await pool.close()
    }

    @Test func `a sound photo is not called damaged where its format does not work`() throws {
        let gaps = FormatGaps([.png: "libpng is gone."])
        let source = try OpenFile(reading: photo)
        for code in [FailureCode.damagedPhoto, .unsupportedFormat, .internalError] {
            let told = gaps.explaining(Failure(code, "no"), of: source)
            #expect(told.code == .formatUnavailable)
            #expect(told.message.contains("libpng is gone."))
        }
        let limit = Failure(.tooManyPixels, "no")
        #expect(gaps.explaining(limit, of: source) == limit)
        let damaged = Failure(.damagedPhoto, "no")
        #expect(FormatGaps([.webp: "gone."]).explaining(damaged, of: source) == damaged)
        #expect(FormatGaps().explaining(damaged, of: source) == damaged)
    }

    @Test func `what cannot be tried is said of each format`() async throws {
        let nobody = RenderPool(
            settings: RenderSettings(executable: "/nowhere/minilab-render"),
            logger: Logger(label: "test"))
        #expect(
            await Set(nobody.tryFormats().reasons.keys) == Set(Recipe.Format.photos))
        // A worker that cannot start children at all says that once, and calls no format broken.
        try await nobody.start()
        #expect(await nobody.formats == FormatGaps())
        await nobody.close()
    }
}
