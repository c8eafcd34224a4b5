import Edits
import Foundation
import Glibc
@testable import Codecs
@testable import Rendering
import RenderProtocol
import Testing

@Suite("Renders with a spool file") struct SpoolRenderTests {
    private let studio: Studio

    init() throws { studio = try Studio() }

    /// What is written, and what the plan said, with as many bytes in memory.
    private func render(
        _ source: String, _ recipe: Recipe, memory: Int, threads: Int = 1
    ) throws -> (bytes: [UInt8], plan: RenderPlan) {
        func render() throws -> (bytes: [UInt8], plan: RenderPlan) {
            let photo = try Photo(
                source, recipe: recipe, limits: RenderLimits(), memorySpoolBytesMax: memory,
                resources: .none)
            let folder = studio.path("staging-\(memory)")
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true)
            let result = folder + "/result"
            try photo.write(to: result, folder: folder, failOn: .warning)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["result"])
            return (try Picture.file(result), photo.plan)
        }
        return threads == 1
            ? try VipsTurn.shared(render) : try VipsTurn.alone(threads: threads, render)
    }

    private func expectSame(
        _ source: String, _ recipe: Recipe, _ lane: RenderPlan.Lane, isSpooled: Bool,
        _ comment: Comment
    ) throws {
        let expected = try render(source, recipe, memory: .max)
        let spooled = try render(source, recipe, memory: 0, threads: 2)
        #expect(spooled.plan.lane == lane, comment)
        #expect(spooled.bytes == expected.bytes, comment)
        #expect(expected.plan.estimate.spoolBytes == 0)
        #expect((spooled.plan.estimate.spoolBytes > 0) == isSpooled, comment)
    }

    @Test(arguments: 1...8)
    func `every orientation of every kind of pixel gives the bytes that it gives in memory`(
        _ orientation: Int
    ) throws {
        let recipe = try Recipe(
            filters: [Filter("CISepiaTone", ["intensity": 0.8])],
            output: .init(format: .png))
        for (bands, is16) in [(1, false), (3, false), (4, false), (3, true), (4, true)] {
            let picture = try TestPicture.image(width: 203, height: 141, bands: bands)
            let source = studio.path("in-\(bands)-\(is16).png")
            try VipsTurn.shared {
                let image = is16 ? try picture.converted(to: "rgb16") : picture
                try image.inMemory().changing([.setInt("orientation", orientation)])
                    .writeTIFF(to: source)
            }
            try expectSame(
                source, recipe, [1, 2].contains(orientation) ? .stream : .spool,
                isSpooled: orientation > 2, "\(bands) bands, \(is16 ? 16 : 8) bits")
        }
    }

    @Test(arguments: [1.0, -31, 47, -88, 180])
    func `a straightened and a turned photo too`(_ degrees: Double) throws {
        let source = studio.path("in.png")
        try VipsTurn.shared { try TestPicture.image(width: 310, height: 190).writePNG(to: source) }
        for filters in try [
            [Filter("CIStraightenFilter", ["angle": .number(min(degrees, 89) * .pi / 180)])],
            [Filter("turn", ["degrees": .number(90 * (degrees / 90).rounded())])],
        ] {
            let recipe = try Recipe(filters: filters, output: .init(format: .png))
            let expected = try render(source, recipe, memory: .max)
            let spooled = try render(source, recipe, memory: 0, threads: 2)
            #expect(spooled.bytes == expected.bytes)
            #expect((spooled.plan.estimate.spoolBytes > 0) == (spooled.plan.lane == .spool))
        }
    }

    @Test(arguments: 1...8)
    func `planes and coefficients of a JPEG too`(_ orientation: Int) throws {
        let sepia = try Filter("CISepiaTone", ["intensity": 0.8])
        for (horizontal, vertical) in [(1, 1), (2, 2), (2, 1)] {
            if horizontal != vertical, orientation > 4 { continue }
            let source = studio.path("in-\(horizontal)\(vertical).jpg")
            try PlanesLaneTests.photo(
                656, 416, horizontal, vertical, at: source, orientation: orientation)
            let comment = Comment("\(horizontal) × \(vertical)")
            try expectSame(
                source, Recipe(filters: [sepia]), .planes, isSpooled: orientation > 2, comment)
            if orientation > 1 {
                try expectSame(source, Recipe(filters: []), .lossless, isSpooled: true, comment)
            }
        }
        let odd = studio.path("odd.jpg")
        try PlanesLaneTests.photo(490, 322, 2, 2, at: odd, orientation: orientation)
        try expectSame(
            odd, Recipe(filters: [sepia]), .planes, isSpooled: orientation > 2, "cut MCUs")
    }

    @Test func `a part of a JPEG is cut and turned without loss by way of a file`() throws {
        let source = studio.path("in.jpg")
        try PlanesLaneTests.photo(656, 416, 2, 2, at: source, orientation: 6)
        // In the upright photo; the stored one begins its blocks at multiples of 16.
        let crop = try Filter("CICrop", ["rectangle": [32, 320, 160, 320]])
        let turn = try Filter("turn", ["degrees": 90])
        try expectSame(
            source, Recipe(filters: [crop, turn]), .lossless, isSpooled: true, "cut")
    }

    @Test func `a progressive photo keeps its coefficients in memory`() throws {
        let source = studio.path("in.jpg")
        try PlanesLaneTests.photo(
            256, 128, 2, 2, at: source, orientation: 6, isProgressive: true)
        let expected = try render(source, Recipe(filters: []), memory: .max)
        #expect(try render(source, Recipe(filters: []), memory: 0).bytes == expected.bytes)
    }

    @Test func `a photo that is cut off is damaged, whatever it is spooled as`() throws {
        let source = studio.path("in.jpg")
        try PlanesLaneTests.photo(656, 416, 2, 2, at: source, orientation: 6)
        let bytes = try Data(contentsOf: URL(filePath: source))
        try bytes.prefix(bytes.count * 3 / 4).write(to: URL(filePath: source))
        let sepia = try Filter("CISepiaTone", ["intensity": 0.8])
        for recipe in try [
            Recipe(filters: []), Recipe(filters: [sepia]),
            Recipe(filters: [sepia], output: .init(format: .png)),
        ] {
            let folder = studio.path("staging")
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true)
            #expect {
                try VipsTurn.shared {
                    let photo = try Photo(
                        source, recipe: recipe, limits: RenderLimits(), memorySpoolBytesMax: 0,
                        resources: .none)
                    try photo.write(to: folder + "/result", folder: folder, failOn: .warning)
                }
            } throws: { error in
                switch error as? WritingError {
                case .failure(let failure)?: failure.code == .damagedPhoto
                case .vips(let error)?:
                    Failure(classifying: error, photo: source).code == .damagedPhoto
                case nil: false
                }
            }
            let left = try FileManager.default.contentsOfDirectory(atPath: folder)
            #expect(left.allSatisfy { $0 == "result" })
        }
    }

    @Test func `the plan says how large the file will be`() throws {
        let source = studio.path("in.png")
        try VipsTurn.shared {
            try TestPicture.image(width: 400, height: 300, bands: 4).writePNG(to: source)
        }
        let sepia = try Filter("CISepiaTone", ["intensity": 0.8])
        let turn = try Filter("turn", ["degrees": 90])
        let lean = try Filter("CIStraightenFilter", ["angle": 0.5])
        let blur = try Filter("CIGaussianBlur", ["radius": 3])
        for (filters, format) in [
            ([turn], Recipe.Format.png), ([sepia, turn], .jpeg), ([turn, sepia], .tiff),
            ([lean], .png), ([sepia, lean], .jpeg), ([blur, turn], .png), ([turn, blur], .png),
            ([blur, lean], .png), ([lean, blur, turn], .png),
        ] {
            try VipsTurn.shared {
                let photo = try Photo(
                    source, recipe: Recipe(filters: filters, output: .init(format: format)),
                    limits: RenderLimits(), memorySpoolBytesMax: 0,
                    resources: .none)
                let standard = try StandardImage(photo.file.image(failOn: .warning))
                let image = try photo.edited(
                    standard, as: .sRGB, spool: SpoolSpace(in: studio.folder))
                let spooled = Self.openBytes(in: studio.folder)
                let estimated = photo.plan.estimate.spoolBytes
                // Of two parts the first is a hole when the second is full.
                #expect(estimated == spooled && spooled > 0, "\(filters)")
                withExtendedLifetime(image) {}
            }
        }
    }

    /// Length of files without a name that this process has open in a folder.
    private static func openBytes(in folder: String) -> Int {
        let name = URL(filePath: folder).lastPathComponent
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return names.compactMap(Int32.init).reduce(0) { bytes, descriptor in
            let path = "/proc/self/fd/\(descriptor)"
            // Descriptors of other tests come and go.
            guard
                let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path),
                target.contains(name + "/"), target.hasSuffix(" (deleted)")
            else { return bytes }
            var status = stat()
            return fstat(descriptor, &status) == 0 ? bytes + Int(status.st_size) : bytes
        }
    }
}
