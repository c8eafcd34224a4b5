import MinilabTesting
import Edits
import Files
import Foundation
import RenderProtocol
import Codecs

@testable import Rendering

/// A folder of its own for one test, and the renderer.
final class Studio {
    let folder: String
    private let renderer: Renderer

    init() throws {
        renderer = try Renderer(reportsLeaks: true)
        folder = NSTemporaryDirectory() + "/minilab-tests-" + UUID().uuidString
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
    }

    deinit {
        // A folder that stays is no reason for a test to fail.
        try? FileManager.default.removeItem(atPath: folder)
    }

    func path(_ name: String) -> String { folder + "/" + name }

    /// A file of the test's own making.
    func write(_ bytes: [UInt8], as name: String) throws -> String {
        try Data(bytes).write(to: URL(fileURLWithPath: path(name)))
        return path(name)
    }

    func render(
        _ source: String, _ filters: [Filter], format: Recipe.Format? = nil,
        quality: Double = 0.9, pixelsMax: Int = RenderLimits.defaultPixelsMax,
        output: Recipe.Output? = nil, stem: String = "out", threads: Int = 1,
        resources: String? = nil
    ) throws -> TestRender {
        try render(
            source,
            Recipe(
                filters: filters, output: output ?? .init(format: format, quality: quality)),
            resources: resources, pixelsMax: pixelsMax, stem: stem, threads: threads)
    }

    func render(
        _ source: String, _ recipe: Recipe, resources: String? = nil,
        pixelsMax: Int = RenderLimits.defaultPixelsMax, stem: String = "out", threads: Int = 1,
        longestSide: Int? = nil
    ) throws -> TestRender {
        func render() throws -> TestRender {
            try TestRender(
                source, recipe, limits: .init(pixelsMax: pixelsMax), resources: resources,
                in: folder, stem: stem, longestSide: longestSide, by: renderer)
        }
        return threads == 1
            ? try VipsTurn.shared(render) : try VipsTurn.alone(threads: threads, render)
    }

    /// Renders the pictures of one request; nil is the full picture. Returns their paths.
    func render(
        _ source: String, _ recipe: Recipe, sides: [Int?], stem: String,
        progress: (RenderReply.Progress) -> Void = { _ in }
    ) throws -> [String] {
        try render(
            source, recipe, sides.map { .init(longestSide: $0) }, stem: stem, progress: progress)
    }

    /// Renders the outputs of one request. Returns their paths.
    func render(
        _ source: String, _ recipe: Recipe, _ outputs: [PhotoRequest.Output], stem: String,
        memoryMax: Int? = nil, resources: String? = nil,
        threads: Int = 1, progress: (RenderReply.Progress) -> Void = { _ in }
    ) throws -> [String] {
        let paths = outputs.indices.map { path("\(stem)-\($0)") }
        func render() throws {
            try renderer.render(
                PhotoRequest(
                    recipe: recipe, limits: .init(), outputs: outputs, memoryMax: memoryMax),
                RenderFiles(
                    sources: [try OpenFile(reading: source)],
                    resources: try Resources(folder: resources).files,
                    outputs: try paths.map { try OpenFile(writing: $0) },
                    spool: try .nameless(in: folder, name: "the spool")), progress: progress)
        }
        if threads == 1 {
            try VipsTurn.shared(render)
        } else {
            try VipsTurn.alone(threads: threads, render)
        }
        return paths
    }

    /// Inspects a request.
    func inspect(
        _ source: String, _ recipe: Recipe, _ outputs: [PhotoRequest.Output],
        memoryMax: Int? = nil
    ) throws -> Inspection {
        try VipsTurn.shared {
            try renderer.inspect(
                PhotoRequest(
                    recipe: recipe, limits: .init(), outputs: outputs, memoryMax: memoryMax),
                RenderFiles(sources: [try OpenFile(reading: source)]))
        }
    }

    /// Renders to PNG and reads the result.
    func pixels(
        of source: String, _ filters: [Filter], stem: String = "out", threads: Int = 1,
        resources: String? = nil
    ) throws -> Picture {
        let report = try render(
            source, filters, format: .png, stem: stem, threads: threads, resources: resources)
        return try Picture(path(report.output.name))
    }

    func drawContactSheet(
        _ request: ContactSheetRequest, of sources: [String], to path: String,
        resources: String? = nil
    ) throws {
        let files = RenderFiles(
            sources: try sources.map { try OpenFile(reading: $0) },
            resources: try Resources(folder: resources).files,
            outputs: [try OpenFile(writing: path)],
            spool: try .nameless(in: folder, name: "the spool"))
        try VipsTurn.shared { try renderer.drawContactSheet(request, files) }
    }

    static func fixture(_ name: String) -> String {
        Repository.fixture(name).path
    }

    /// The larger set of photos, when the environment names one.
    static var corpus: String? { ProcessInfo.processInfo.environment["MINILAB_CORPUS"] }
}

/// A decoded file.
struct Picture {
    let width: Int, height: Int, bands: Int
    let image: Image
    /// 8-bit codes, or 16-bit ones in pairs of bytes.
    let bytes: [UInt8]

    init(_ path: String, loader: String? = nil) throws {
        let loader = loader ?? (path.hasSuffix(".png") ? "pngload" : "jpegload")
        image = try Image.open(path, loader: loader, streaming: false, failOn: .error)
        (width, height, bands) = (image.width, image.height, image.bands)
        bytes = try image.pixels()
    }

    private init(of image: Image) throws {
        self.image = image
        (width, height, bands) = (image.width, image.height, image.bands)
        bytes = try image.pixels()
    }

    /// A picture that was never written.
    static func of(_ image: Image) throws -> Picture { try Picture(of: image) }

    /// The bytes of a file, undecoded.
    static func file(_ path: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    }

    func pixel(_ x: Int, _ y: Int) -> [Int] {
        (0..<bands).map { Int(bytes[(y * width + x) * bands + $0]) }
    }

    /// Root mean square and greatest difference of 8-bit codes.
    func difference(from other: Picture) -> (rms: Double, max: Int) {
        var sum = 0
        var most = 0
        for (a, b) in zip(bytes, other.bytes) {
            let d = abs(Int(a) - Int(b))
            sum += d * d
            most = max(most, d)
        }
        return ((Double(sum) / Double(bytes.count)).squareRoot(), most)
    }
}

/// Small pictures that tests make.
enum TestPicture {
    /// Smooth colours with some detail, the same for the same seed.
    static func codes(width: Int, height: Int, bands: Int = 3, seed: UInt64 = 7) -> [UInt8] {
        var state = seed
        var bytes: [UInt8] = []
        for y in 0..<height {
            for x in 0..<width {
                for band in 0..<bands {
                    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                    let noise = Int(state >> 60)
                    let ramp = [
                        x * 230 / width, y * 230 / height, (x + y) * 230 / (width + height),
                    ]
                    bytes.append(UInt8(min(255, ramp[band % 3] + noise)))
                }
            }
        }
        return bytes
    }

    static func image(width: Int, height: Int, bands: Int = 3) throws -> Image {
        try VipsLibrary.start()
        return try Image.fromPixels(
            codes(width: width, height: height, bands: bands), width: width, height: height,
            bands: bands)
    }
}
