import Edits
import Files
import Foundation
import PhotoFiles
import MinilabTesting
import RenderProtocol
import Testing

@testable import Rendering

@Suite("Gain maps through edits", .timeLimit(.minutes(110))) struct GainMapRenderTests {
    private let studio: Studio

    init() throws { studio = try Studio() }

    private static let recipes = Volume.trials(byDay: 4, byNight: 200)

    private static func geometry(_ random: inout SeededGenerator) throws -> Filter {
        switch Int.random(in: 0..<5, using: &random) {
        case 0:
            let corner = (
                Double.random(in: 0...80, using: &random), Double.random(in: 0...60, using: &random)
            )
            return try Filter(
                "CICrop", ["inputRectangle": .vector([corner.0, corner.1, 170, 150])])
        case 1:
            return try Filter(
                "turn", ["degrees": .number([90, 180, 270].randomElement(using: &random) ?? 90)])
        case 2: return try Filter("flip", ["axis": .text("horizontal")])
        case 3:
            return try Filter(
                "CIStraightenFilter",
                ["inputAngle": .number(.random(in: -0.1...0.1, using: &random))])
        default:
            return try Filter(
                "CILanczosScaleTransform",
                ["inputScale": .number(.random(in: 0.5...0.9, using: &random))])
        }
    }

    private static func colour(_ random: inout SeededGenerator) throws -> Filter {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: try Filter("CIHueAdjust", ["inputAngle": .number(0.4)])
        case 1:
            try Filter(
                "CIExposureAdjust", ["inputEV": .number(.random(in: -1...1.2, using: &random))])
        case 2:
            try Filter(
                "CIGaussianBlur", ["inputRadius": .number(.random(in: 2...9, using: &random))])
        default: try Filter("CIColorMatrix", ["inputRVector": .vector([0.7, 0.3, 0, 0])])
        }
    }

    /// HDR of the edited file against the edit of the file's HDR.
    private func difference(
        _ source: String, _ recipe: Recipe, _ stem: String, map: [UInt8]? = nil
    ) throws -> (mean: Double, p99: Double) {
        let render = try studio.render(source, recipe, stem: stem)
        let path = studio.path(render.output.name)
        if let map { try UltraHDRFile.join(map, to: OpenFile(changing: path)) }
        return try VipsTurn.shared {
            let photo = try Photo(
                OpenedPhoto(
                    PhotoFile(at: source), recipe: recipe, limits: RenderLimits(),
                    resources: Resources(folder: nil)))
            let expected = try HDRPicture(source).edited(as: photo)
            return try HDRPicture(path).difference(from: expected)
        }
    }

    @Test(arguments: HDRPhoto.Kind.all)
    func `the edited photo in HDR is the edit of the photo in HDR`(_ kind: HDRPhoto.Kind) throws {
        var random = SeededGenerator()
        random.printSeed()
        let source = studio.path("photo.jpg")
        var worst = (mean: 0.0, p99: 0.0)
        for number in 0..<Self.recipes {
            try HDRPhoto.write(kind, to: source, orientation: Int.random(in: 1...8, using: &random))
            var filters = [try Self.geometry(&random)]
            if number % 2 == 1 { filters.append(try Self.colour(&random)) }
            if number % 3 == 1 { filters.append(try Self.geometry(&random)) }
            filters.shuffle(using: &random)
            let recipe = try Recipe(filters: filters, output: .init(quality: 1, hdr: .require))
            let found: (mean: Double, p99: Double)
            do {
                found = try difference(source, recipe, "\(number)")
            } catch let failure as Failure
                where [.invalidValue, .parameterOutOfRange].contains(failure.code)
            {
                continue
            }
            #expect(found.mean <= 0.02 && found.p99 <= 0.15, "\(found) \(recipe.json.canonical)")
            worst = (max(worst.mean, found.mean), max(worst.p99, found.p99))
        }
        print("\(kind): at most \(worst.mean) in the mean, p99 \(worst.p99)")
    }

    @Test func `a map that was left as it was fails the same comparison`() throws {
        let kind = HDRPhoto.Kind.all[0]
        let source = studio.path("photo.jpg")
        try HDRPhoto.write(kind, to: source)
        let map = try HDRPhoto.map(kind, scratch: studio.path("map"))
        let recipe = try Recipe(
            filters: [Filter("turn", ["degrees": 180])], output: .init(quality: 1, hdr: .drop))
        let found = try difference(source, recipe, "stale", map: map)
        #expect(found.mean > 0.1 && found.p99 > 0.5, "\(found)")
    }

    @Test func `four quarter turns and a cut along blocks keep the map's coefficients`() throws {
        let source = studio.path("photo.jpg")
        let kind = HDRPhoto.Kind.all[0]
        try HDRPhoto.write(kind, to: source)
        let before = try Self.codes(source)
        var path = source
        for number in 0..<4 {
            let render = try studio.render(
                path, [Filter("turn", ["degrees": 90])], output: .init(hdr: .require),
                stem: "turned-\(number)")
            path = studio.path(render.output.name)
        }
        #expect(try Self.codes(path).codes == before.codes)

        let (left, top) = (64, 32)
        let area = [left, 0, HDRPhoto.size.width - left, HDRPhoto.size.height - top]
        let cut = try studio.render(
            source, [Filter("CICrop", ["inputRectangle": .vector(area.map(Double.init))])],
            output: .init(hdr: .require), stem: "cut")
        let part = try Self.codes(studio.path(cut.output.name))
        #expect(part.width == before.width - left / kind.ratio)
        #expect(part.height == before.height - top / kind.ratio)
        for y in 0..<part.height {
            let start = (y + top / kind.ratio) * before.width + left / kind.ratio
            let isSame = before.codes[start..<start + part.width].elementsEqual(
                part.codes[y * part.width..<(y + 1) * part.width])
            #expect(isSame, "row \(y)")
        }
    }

    private static func codes(_ path: String) throws -> GainMapPixels {
        let file = try PhotoFile(at: path)
        return try GainMapPixels(file, #require(file.companions().map))
    }

    @Test func `lanes carry it, and exiftool finds nothing wrong`() throws {
        let source = studio.path("photo.jpg")
        try HDRPhoto.write(HDRPhoto.Kind.all[0], to: source)
        let whole = try Picture.file(source)
        let cases: [(filters: [Filter], lane: RenderPlan.Lane, outcome: GainMapOutcome)] = [
            ([], .copy, .carried),
            ([try Filter("turn", ["degrees": 180])], .lossless, .carried),
            ([try Filter("CIMaximumComponent")], .planes, .carried),
            ([try Filter("CIGammaAdjust", ["inputPower": 0.9])], .planes, .kept),
            ([try Filter("CIGaussianBlur", ["inputRadius": 3])], .stream, .recomputed),
            (
                [
                    try Filter("CIStraightenFilter", ["inputAngle": 0.3]),
                    try Filter("turn", ["degrees": 90]),
                ],
                .spool, .carried
            ),
        ]
        for (filters, lane, outcome) in cases {
            let render = try studio.render(source, filters, stem: "\(lane)")
            #expect(render.plan.lane == lane)
            #expect(render.plan.gainMap == outcome)
            let path = studio.path(render.output.name)
            let companions = try PhotoFile(at: path).companions()
            let map = try #require(companions.map)
            #expect(!companions.hasFalseClaims && map.jpeg?.upperBound == render.output.bytes)
            if lane == .copy { #expect(try Picture.file(path) == whole) }
            let tags = try Exiftool.tags(of: path, "-G1")
            #expect(tags["MPF0:NumberOfImages"] == "2")
            #expect(tags["MPImage2:MPImageLength"] == "\(map.jpeg?.count ?? 0)")
            let directory = try Exiftool.directory(of: path)
            #expect(directory.map(\.semantic) == ["Primary", "GainMap"])
            #expect(directory.last?.length == map.jpeg?.count)
            let validated = try Exiftool.tags(of: path, "-validate")["Validate"]
            #expect(validated?.contains("Error") == false, "\(validated ?? "nothing")")
        }
    }

    @Test func `what drops it is said, and require refuses`() throws {
        let source = studio.path("photo.jpg")
        try HDRPhoto.write(HDRPhoto.Kind.all[0], to: source)
        let invert = try Filter("CIColorInvert")
        for (filters, output, reason) in [
            ([invert], Recipe.Output(), "CIColorInvert"), ([], .init(format: .png), "png"),
            ([], .init(hdr: .drop), "edit.output.hdr"),
        ] {
            let render = try studio.render(source, filters, output: output)
            #expect(render.plan.gainMap?.reason?.contains(reason) == true)
            #expect(render.plan.notes.contains { $0.contains("not HDR") && $0.contains(reason) })
            let path = studio.path(render.output.name)
            if render.plan.output.format == .jpeg {
                let companions = try PhotoFile(at: path).companions()
                #expect(companions.map == nil && !companions.hasFalseClaims)
            }
            var required = output
            guard output.hdr == .keep else { continue }
            required.hdr = .require
            let failure = #expect(throws: Failure.self) {
                try studio.render(source, filters, output: required)
            }
            #expect(failure?.code == .hdrNotKept && failure?.message.contains(reason) == true)
        }
        // A photo that never was HDR has nothing to keep.
        try PlanesLaneTests.photo(64, 48, 2, 2, at: source)
        let plain = try studio.render(source, [invert], output: .init(hdr: .require))
        #expect(plain.plan.gainMap == nil)
    }

    @Test func `harmed maps fail no photo, and are said to be left out or are whole`() throws {
        var random = SeededGenerator()
        random.printSeed()
        let source = studio.path("photo.jpg")
        try HDRPhoto.write(HDRPhoto.Kind.all[1], to: source)
        let whole = try Picture.file(source)
        let map = try #require(try PhotoFile(at: source).companions().map?.jpeg)
        let sepia = try Filter("CISepiaTone")
        var dropped = 0
        for number in 0..<60 {
            var bytes = whole
            if number % 3 == 0 {
                bytes.removeLast(Int.random(in: 1..<map.count, using: &random))
            } else {
                for _ in 0..<Int.random(in: 1...6, using: &random) {
                    bytes[Int.random(in: map.lowerBound..<bytes.count, using: &random)] = .random(
                        in: 0...255, using: &random)
                }
            }
            let path = try studio.write(bytes, as: "harmed.jpg")
            let render = try studio.render(path, [sepia], stem: "result")
            let companions = try PhotoFile(at: studio.path(render.output.name)).companions()
            #expect(!companions.hasFalseClaims)
            if render.plan.gainMap?.reason != nil {
                dropped += 1
                #expect(companions.map == nil)
            } else {
                #expect(companions.map != nil)
            }
            // Nothing is claimed by a copy that the file has not.
            let copy = try studio.render(path, [], stem: "copy")
            #expect(try !PhotoFile(at: studio.path(copy.output.name)).companions().hasFalseClaims)
        }
        #expect(dropped >= 20)
    }

    @Test func `previews have no map and claim none`() throws {
        let source = studio.path("photo.jpg")
        try HDRPhoto.write(HDRPhoto.Kind.all[0], to: source)
        for path in try studio.render(
            source, Recipe(filters: [Filter("CISepiaTone")], output: .init(hdr: .require)),
            sides: [64, 128], stem: "p")
        {
            let companions = try PhotoFile(at: path).companions()
            #expect(companions.map == nil && !companions.hasFalseClaims)
        }
    }

    @Test func `mutated indices and metadata give the real child a picture or a typed failure`()
        throws
    {
        var random = SeededGenerator()
        random.printSeed()
        let source = studio.path("photo.jpg")
        try HDRPhoto.write(HDRPhoto.Kind.all[0], to: source)
        let whole = try Picture.file(source)
        let start = try #require(try PhotoFile(at: source).companions().map?.jpeg).lowerBound
        // Where XMP, ISO's bytes and the index stand: the photo's head, and the map's.
        let heads = [20..<1_100, start..<start + 900]
        let child = try Child()
        let recipes = [
            try Recipe(filters: [Filter("turn", ["degrees": 90])]),
            try Recipe(filters: [Filter("CIExposureAdjust", ["inputEV": 1])]),
            try Recipe(filters: []),
        ]
        for number in 0..<Self.mutants {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...5, using: &random) {
                let head = heads[Int.random(in: 0..<2, using: &random)]
                bytes[Int.random(in: head, using: &random)] = .random(in: 0...255, using: &random)
            }
            let path = try studio.write(bytes, as: "mutant.jpg")
            try child.send(
                .render(
                    path, recipes[number % 3], limits: RenderLimits(), to: studio.path("mutant.out")
                ))
            switch try child.reply() {
            case .rendered, .failed, .refused: break
            case let other: Issue.record("mutant \(number): \(String(describing: other))")
            }
        }
    }

    private static let mutants = Volume.trials(byDay: 30, byNight: 20_000)
}
