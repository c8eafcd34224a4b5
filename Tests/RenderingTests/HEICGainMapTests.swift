import Edits
import PhotoFiles
import Files
import Foundation
import MinilabTesting
import RenderProtocol
import Testing

@testable import Rendering

@Suite("Gain maps of HEIC", .timeLimit(.minutes(110))) struct HEICGainMapTests {
    private let studio: Studio

    init() throws { studio = try Studio() }

    /// A photo with a map as HEIC.
    private func heic(
        _ kind: HDRPhoto.Kind, _ filters: [Filter] = [], stem: String = "photo"
    ) throws -> String {
        let source = studio.path("\(stem).jpg")
        try HDRPhoto.write(kind, to: source)
        let render = try studio.render(
            source,
            Recipe(filters: filters, output: .init(format: .heic, quality: 1, hdr: .require)),
            stem: stem)
        return studio.path(render.output.name)
    }

    private func meta(_ path: String) throws -> (HEIFMeta, FileWindow) {
        var window = try PhotoFile(at: path).window
        return (try #require(HEIFMeta(of: &window)), window)
    }

    @Test func `of which tmap says that the photo is its own map is the auxiliary picture`() throws
    {
        let path = try heic(HDRPhoto.Kind.all[0])
        let (whole, _) = try meta(path)
        let primary = try #require(whole.primary)
        let toneMap = try #require(whole.items.values.first { $0.type == "tmap" }?.id)
        let map = try #require(whole.items(from: toneMap, by: "dimg").last)
        var bytes = try Picture.file(path)
        // `dimg` from the tone map to two items, two bytes each.
        let reference = Array("dimg".utf8) + Bytes.big(toneMap, 2) + Bytes.big(2, 2)
        let end = try #require(bytes.firstRange(of: reference)).upperBound
        bytes.replaceSubrange(end + 2..<end + 4, with: Bytes.big(primary, 2))
        let harmed = try studio.write(bytes, as: "own.heic")

        var (meta, window) = try meta(harmed)
        #expect(meta.items(from: toneMap, by: "dimg") == [primary, primary])
        let found = try #require(HEIFCompanions(meta, in: &window).map)
        guard case .item(let item) = found.location else { return }
        #expect(item == map && item != primary)
    }

    @Test(arguments: HDRPhoto.Kind.all)
    func `is written as an auxiliary picture and as tmap, and read again`(_ kind: HDRPhoto.Kind)
        throws
    {
        let path = try heic(kind)
        var (meta, window) = try meta(path)
        let found = HEIFCompanions(meta, in: &window)
        #expect(found.damage == nil && found.others.isEmpty)
        let map = try #require(found.map)
        #expect(map.components == kind.channels)
        #expect(map.width == HDRPhoto.size.width / kind.ratio)
        let primary = try #require(meta.primary)
        // The same numbers in `tmap` and XMP, as in the JPEG.
        let original = try #require(
            try PhotoFile(at: studio.path("photo.jpg")).companions().map?.metadata)
        #expect(map.metadata == original)
        guard case .item(let item) = map.location else { return }
        let still = try HEIFStill(item: item, of: meta, in: &window)
        let stated = try #require(GainMapMetadata(hdrgm: still.xmp ?? []))
        for (a, b) in zip(stated.channels, original.channels) {
            for (x, y) in [(a.min, b.min), (a.max, b.max), (a.gamma, b.gamma)] {
                #expect(abs(x.value - y.value) < 1e-5)
            }
            #expect(abs(a.baseOffset.value - b.baseOffset.value) < 1e-5)
        }
        #expect(abs(stated.alternateHeadroom.value - original.alternateHeadroom.value) < 1e-5)
        #expect(HEIFGainMap.name(of: original).contains(kind.channels == 3 ? "samsung" : "urn:com"))
        // Readers may choose the tone map; the map itself is hidden.
        let toneMap = try #require(meta.items.values.first { $0.type == "tmap" }?.id)
        #expect(meta.groups.map(\.type) == ["altr"] && meta.groups[0].items == [toneMap, primary])
        #expect(meta.items[item]?.isHidden == true)
        #expect(meta.items(from: toneMap, by: "dimg") == [primary, item])
        #expect(
            meta.properties(of: toneMap).contains(
                .size(width: HDRPhoto.size.width, height: HDRPhoto.size.height)))
        let tags = try Exiftool.tags(of: path, "-validate")
        #expect(tags["Validate"]?.contains("Error") == false, "\(tags)")
        #expect(window.head(of: 64).firstRange(of: Array("tmap".utf8)) != nil)
        // The pictures differ by two encoders.
        let difference = try HDRPicture(path).difference(from: HDRPicture(studio.path("photo.jpg")))
        #expect(difference.mean <= 0.03 && difference.p99 <= 0.2, "\(difference)")
    }

    @Test func `comes along into a JPEG, through crop and look`() throws {
        let path = try heic(HDRPhoto.Kind.all[0])
        let filters = [
            try Filter("CICrop", ["inputRectangle": .vector([30, 21, 300, 200])]),
            try Filter("CIMaximumComponent"), try Filter("turn", ["degrees": 90]),
        ]
        let render = try studio.render(
            path, Recipe(filters: filters, output: .init(format: .jpeg, quality: 1, hdr: .require)),
            stem: "result")
        #expect(render.plan.gainMap == .carried)
        let result = studio.path(render.output.name)
        let map = try #require(try PhotoFile(at: result).companions().map)
        #expect(map.width == 100 && map.height == 150)
        let found = try VipsTurn.shared {
            let photo = try Photo(
                OpenedPhoto(
                    PhotoFile(at: path), recipe: Recipe(filters: filters), limits: RenderLimits(),
                    resources: Resources(folder: nil)))
            let expected = try HDRPicture(path).edited(as: photo)
            return try HDRPicture(result).difference(from: expected)
        }
        #expect(found.mean <= 0.02 && found.p99 <= 0.15, "\(found)")
    }

    @Test func `that is left out leaves no claim`() throws {
        let path = try heic(HDRPhoto.Kind.all[0])
        let render = try studio.render(
            path, Recipe(filters: [], output: .init(format: .heic, hdr: .drop)), stem: "plain")
        var (meta, window) = try meta(studio.path(render.output.name))
        let found = HEIFCompanions(meta, in: &window)
        #expect(found.map == nil && found.damage == nil && meta.groups.isEmpty)
        #expect(!meta.items.values.contains { $0.type == "tmap" })
        #expect(window.head(of: 64).firstRange(of: Array("tmap".utf8)) == nil)
    }

    @Test func `a video behind the items is left out by name`() throws {
        let whole = try Picture.file(heic(HDRPhoto.Kind.all[0]))
        // mdat goes on to its own end, so a box may follow.
        for box in [
            Bytes.box("mpvd", [1, 2, 3]),
            Bytes.box("sefd", Bytes.text("..MotionPhoto_Data....SEFT")),
        ] {
            let path = try studio.write(whole + box, as: "motion.heic")
            #expect(try PhotoFile(at: path).companions().others == [.motionVideo])
        }
        let path = try studio.write(whole + Bytes.box("sefd", Bytes.text("SEFT")), as: "s.heic")
        #expect(try PhotoFile(at: path).companions().others.isEmpty)
    }

    @Test func `metadata that a JPEG has no room for are left out by name`() throws {
        let path = try heic(HDRPhoto.Kind.all[0])
        for (bytes, isNoted) in [(50_000, false), (80_000, true)] {
            var companions = try PhotoFile(at: path).companions()
            (companions.metadata.xmpFitsJPEG, companions.metadata.exifBytes) = (!isNoted, bytes)
            let header = try PhotoFile(at: path).header()
            func plan(_ format: Recipe.Format, _ strip: Recipe.Strip = .none) throws -> RenderPlan {
                try Planner.plan(
                    Recipe(filters: [], output: .init(format: format, strip: strip)), for: header,
                    companions: companions, resources: Resources(folder: nil)
                ).plan
            }
            func notes(_ format: Recipe.Format, _ strip: Recipe.Strip = .none) throws -> [String] {
                try plan(format, strip).notes.filter { $0.contains("left out") }
            }
            #expect(try plan(.jpeg).leftOut == (isNoted ? [.exif, .xmp] : nil))
            #expect(try notes(.jpeg).count == (isNoted ? 2 : 0))
            #expect(try notes(.heic).isEmpty && notes(.jpeg, .all).isEmpty)
        }
    }

    @Test func `an opaque photo that is scaled to parts of pixels has no alpha`() throws {
        let source = studio.path("photo.jpg")
        try HDRPhoto.write(HDRPhoto.Kind.all[0], to: source)
        let scale = try Filter("CILanczosScaleTransform", ["inputScale": 0.377])
        let straighten = try Filter(
            "CIAffineTransform", ["inputTransform": .vector([0.98, 0.17, -0.17, 0.98, 0, 0])])
        for (filter, format, hasAlpha) in [
            (scale, Recipe.Format.heic, false), (scale, .png, true), (straighten, .heic, true),
        ] {
            let render = try studio.render(source, [filter], format: format)
            #expect(render.plan.output.keepsAlpha == hasAlpha, "\(filter.name) \(format)")
        }
    }

    private static let mutants = Volume.trials(byDay: 40, byNight: 20_000)

    @Test func `mutants of files with maps are a picture or a typed failure`() throws {
        var random = SeededGenerator()
        random.printSeed()
        var files: [(name: String, bytes: [UInt8], heads: [Range<Int>])] = []
        for (index, kind) in HDRPhoto.Kind.all.enumerated() {
            let heic = try Picture.file(heic(kind, stem: "photo\(index)"))
            let jpeg = try Picture.file(studio.path("photo\(index).jpg"))
            let map = try #require(
                try PhotoFile(at: studio.path("photo\(index).jpg")).companions().map?.jpeg)
            files.append(
                ("m.jpg", jpeg, [20..<1_100, map.lowerBound..<map.lowerBound + 900, map]))
            files.append(("m.heic", heic, [0..<1_800, 0..<heic.count]))
        }
        var outcomes: [String: Int] = [:]
        for number in 0..<Self.mutants {
            var (name, bytes, heads) = files[number % files.count]
            for _ in 0..<Int.random(in: 1...5, using: &random) {
                let head = heads[Int.random(in: 0..<heads.count, using: &random)]
                bytes[Int.random(in: head, using: &random)] = .random(in: 0...255, using: &random)
            }
            if number % 7 == 0 {
                bytes.removeLast(Int.random(in: 1..<bytes.count, using: &random))
            }
            let path = try studio.write(bytes, as: name)
            do {
                let file = try PhotoFile(at: path)
                let companions = file.companions()
                guard let map = companions.map else {
                    outcomes[companions.obstacle == nil ? "none" : "left out", default: 0] += 1
                    continue
                }
                // Checked before: so its codes can be had.
                let pixels = try GainMapPixels(file, map)
                #expect(pixels.width == map.width && pixels.height == map.height)
                #expect(pixels.codes.count == map.samples)
                outcomes["map", default: 0] += 1
            } catch let error as Failure {
                outcomes[error.code.rawValue, default: 0] += 1
            }
        }
        print("mutants: \(outcomes)")
    }
}
