import Edits
import Foundation
import MinilabTesting
import Testing

/// The step `mark` of an edit: the blend mode that it is recorded as, without I/O.
@Suite("Marks as a step of an edit") struct MarkStepTests {
    static let digest = "sha256:" + String(repeating: "a", count: 64)

    private static func step(_ fields: String) -> String {
        #"{"name": "mark", "image": "\#(digest)", \#(fields)}"#
    }

    private static func recipe(_ edit: String) throws -> Recipe {
        guard case .replace(let steps) = try Edit(json: edit).mode else {
            throw Failure(.internalError, "expected filters")
        }
        return try Recipe(filters: steps.filters, referenceSize: steps.referenceSize)
    }

    private static func filters(
        _ steps: String, _ photo: PixelSize, _ picture: PixelSize, units: String = "pixels"
    ) throws -> [Filter] {
        try recipe(#"{"units": "\#(units)", "filters": [\#(steps)]}"#)
            .resolved(for: photo, pictures: [digest: picture]).filters
    }

    private static func one(
        _ fields: String, _ photo: PixelSize, _ picture: PixelSize
    ) throws -> Filter {
        let filters = try filters(step(fields), photo, picture)
        guard filters.count == 1 else {
            throw Failure(.internalError, "expected one filter, found \(filters)")
        }
        return filters[0]
    }

    /// The pixels that a recorded blend mode covers, from the bottom left.
    private static func covered(_ filter: Filter, _ picture: PixelSize) -> [Int] {
        let size = ResourcePicture.size(of: picture, scaledBy: filter.number("scale"))
        return filter.vector("position").map { Int($0) } + [size.width, size.height]
    }

    private static func size(_ width: Int, _ height: Int) -> PixelSize {
        PixelSize(width: width, height: height)
    }

    @Test(
        arguments: [
            ("northwest", 20, 20), ("north", 450, 20), ("northeast", 879, 20),
            ("west", 20, 325), ("center", 450, 325), ("east", 879, 325),
            ("southwest", 20, 629), ("south", 450, 629), ("southeast", 879, 629),
        ])
    func `lies where a rendition's mark lies`(at: String, left: Int, top: Int) throws {
        // 1000 − 101 = 899 → 449.5 → 450; 700 − 51 = 649 → 324.5 → 325.
        let picture = Self.size(101, 51)
        let filter = try Self.one(
            #""width": 101, "margin": 20, "unit": "px", "at": "\#(at)""#, Self.size(1000, 700),
            picture)
        #expect(filter.name == "CISourceOverCompositing")
        #expect(filter.text("inputImage") == Self.digest)
        #expect(Self.covered(filter, picture) == [left, 700 - top - 51, 101, 51])
        #expect(filter.number("scale") == 1 && filter.number("opacity") == 1)
    }

    @Test(
        arguments: [
            // Landscape, portrait, panorama, and sizes that are odd: a margin is one of the shorter side.
            (6000, 4000, [5200, 80, 720, 180]), (4000, 6000, [3440, 80, 480, 120]),
            (10_000, 1000, [8780, 20, 1200, 300]), (101, 99, [87, 2, 12, 3]),
            // 1.2 pixels of 10 are 1, and the height is at least 1.
            (10, 10, [9, 0, 1, 1]), (1, 1, [0, 0, 1, 1]), (2, 9, [1, 0, 1, 1]),
        ])
    func `has a width that is a part of the photo's, and a margin of its shorter side`(
        width: Int, height: Int, expected: [Int]
    ) throws {
        let picture = Self.size(400, 100)
        for units in ["pixels", "relative"] {
            let filters = try Self.filters(
                Self.step(#""width": 0.12, "margin": 0.02, "at": "southeast""#),
                Self.size(width, height), picture, units: units)
            #expect(filters.map { Self.covered($0, picture) } == [expected])
        }
    }

    @Test(arguments: [
        (400, 100, 0.12, 2048, 1365, 246, 62), (400, 100, 0.125, 100, 100, 13, 3),
        (3, 2, 0.5, 6, 6, 3, 2), (1000, 1, 0.01, 300, 200, 3, 1),
        (100, 100, 0.0001, 300, 200, 1, 1),
    ])
    func `has sides in whole numbers, halves rounded up`(
        pictureWidth: Int, pictureHeight: Int, width: Double, photoWidth: Int, photoHeight: Int,
        wide: Int, high: Int
    ) throws {
        let picture = Self.size(pictureWidth, pictureHeight)
        let filter = try Self.one(
            #""width": \#(width)"#, Self.size(photoWidth, photoHeight), picture)
        #expect(Self.covered(filter, picture).suffix(2) == [wide, high])
    }

    /// The scale is one number for both sides, of which each is rounded by itself.
    @Test func `has the recorded sides and place of the rules at any size`() throws {
        var random = SeededGenerator(seed: 39)
        for _ in 0..<20_000 {
            let photo = Self.size(
                Int.random(in: 1...9000, using: &random), Int.random(in: 1...9000, using: &random))
            let picture = Self.size(
                Int.random(in: 1...3000, using: &random), Int.random(in: 1...3000, using: &random))
            let millionths = Int.random(in: 1...1_500_000, using: &random)
            let at = try #require(Focus.named.keys.sorted().randomElement(using: &random))
            let margin = Int.random(in: 0...200_000, using: &random)
            let mark = Mark(
                .image(Self.digest, width: .init(millionths: millionths)),
                at: try #require(Focus.named[at]), margin: .init(millionths: margin))
            let expected = mark.size(
                of: picture, width: .init(millionths: millionths), in: photo
            ).size
            let factor = Double(expected.width) / Double(picture.width)
            guard (0.001...1000).contains(factor), expected.height < 16_000 else { continue }
            let place = try mark.placement(of: expected, in: photo, at: "mark").stamps[0]
            let filter: Filter
            do {
                filter = try Self.one(
                    #""width": \#(Double(millionths) / 1e6), "margin": \#(Double(margin) / 1e6), "at": "\#(at)""#,
                    photo, picture)
            } catch let failure as Failure where failure.code == .parameterOutOfRange {
                // A picture of thousands of pixels that becomes one by its height.
                continue
            }
            #expect(
                Self.covered(filter, picture) == [
                    place.left, photo.height - place.top - expected.height, expected.width,
                    expected.height,
                ], "\(picture) at \(at) of \(photo), width \(millionths)")
        }
    }

    @Test func `is mixed as the filter of its blend, with its opacity`() throws {
        let photo = Self.size(100, 100)
        for blend in Mark.Blend.allCases {
            let filter = try Self.one(
                #""width": 0.5, "blend": "\#(blend.rawValue)", "opacity": 0.25"#, photo,
                Self.size(10, 10))
            #expect(filter.name == blend.filterName && filter.number("opacity") == 0.25)
        }
        #expect(
            try Self.filters(Self.step(#""width": 0.5, "opacity": 0"#), photo, Self.size(10, 10))
                .isEmpty)
    }

    @Test(arguments: [
        (100, 100, 2.0, 300, 200, 200, 200), (100, 400, 1.0, 300, 200, 50, 200),
        (10, 9000, 1.0, 30, 20, 1, 20), (50, 50, 4.0, 1, 1, 1, 1),
    ])
    func `is reduced to fit if it is larger than the photo, and the plan says so`(
        pictureWidth: Int, pictureHeight: Int, width: Double, photoWidth: Int, photoHeight: Int,
        wide: Int, high: Int
    ) throws {
        let (photo, picture) = (
            Self.size(photoWidth, photoHeight), Self.size(pictureWidth, pictureHeight)
        )
        let steps = try Self.recipe(#"{"filters": [\#(Self.step(#""width": \#(width)"#))]}"#)
            .steps(for: photo, pictures: [Self.digest: picture])
        let covered = Self.covered(try #require(steps.first?.filters.first), picture)
        #expect(covered[0] >= 0 && covered[0] + covered[2] <= photoWidth)
        #expect(covered[1] >= 0 && covered[1] + covered[3] <= photoHeight)
        #expect(abs(covered[2] - wide) <= 1 && abs(covered[3] - high) <= 1)
        let note = try #require(steps.first?.note)
        #expect(note.hasPrefix("edit.filters[0]") && note.contains("\(photo)"), "\(note)")
    }

    @Test func `counts parts of the picture that it gets`() throws {
        let filters = try Self.filters(
            """
            {"name": "crop", "aspect": [1, 1]}, \(Self.step(#""width": 0.5, "at": "southwest""#)),
            {"name": "resize", "box": [100, 100]}, \(Self.step(#""width": 0.5, "at": "southwest""#)),
            {"name": "CIGaussianBlur", "radius": 2}
            """, Self.size(600, 400), Self.size(10, 10))
        #expect(
            filters.map(\.name) == [
                "CICrop", "CISourceOverCompositing", "CILanczosScaleTransform",
                "CISourceOverCompositing", "CIGaussianBlur",
            ])
        #expect(filters[1].number("scale") == 20 && filters[3].number("scale") == 5)
    }

    @Test func `leaves lengths of a preview to be scaled as without it`() throws {
        let mark = Self.step(#""width": 10, "unit": "px""#)
        func blur(_ steps: String) throws -> Filter? {
            try Self.recipe(#"{"referenceSize": [300, 200], "filters": [\#(steps)]}"#)
                .resolved(
                    for: Self.size(6000, 4000), pictures: [Self.digest: Self.size(9000, 9000)]
                )
                .filters.first { $0.name == "CIGaussianBlur" }
        }
        let bare = #"{"name": "CIGaussianBlur", "radius": 2}"#
        #expect(try blur(bare)?.number("inputRadius") == 40)
        #expect(try blur("\(mark), \(bare)") == blur(bare))
        #expect(try blur("\(bare), \(mark)") == blur(bare))
    }

    @Test func `is kept as it was sent, and recorded in pixels`() throws {
        let recipe = try Self.recipe(
            #"{"filters": [{"name": "CISepiaTone"}, \#(Self.step(#""width": 0.3"#))]}"#)
        let pictures = [Self.digest: Self.size(7, 3)]
        #expect(recipe.dependsOnSize && recipe.sizedPictures == [Self.digest])
        #expect(recipe.resourceDigests == [Self.digest])
        let resolved = try recipe.resolved(for: Self.size(1001, 777), pictures: pictures)
        #expect(resolved.sizedPictures.isEmpty && !resolved.dependsOnSize)
        #expect(resolved.resourceDigests == [Self.digest])
        // Seventeen digits are the number itself.
        #expect(try Recipe(recorded: resolved.json.canonical) == resolved)
        let kept = try #require(
            try recipe.kept(for: Self.size(1001, 777), pictures: pictures))
        #expect(kept.filters.map(\.name) == ["CISepiaTone", "mark"])
        #expect(try Recipe(json: kept.json.canonical) == kept)
    }

    @Test func `without the size of its picture is an error that names the step`() throws {
        let recipe = try Self.recipe(
            #"{"filters": [{"name": "CISepiaTone"}, \#(Self.step(#""width": 0.3"#))]}"#)
        expect(.missingResource, naming: "edit.filters[1].image", Self.digest) {
            try recipe.resolved(for: Self.size(10, 10))
        }
    }

    @Test func `beyond the range of its scale is an error that names the step`() throws {
        expect(.parameterOutOfRange, naming: "edit.filters[0].scale") {
            try Self.filters(Self.step(#""width": 1"#), Self.size(2000, 2000), Self.size(1, 1))
        }
    }

    @Test(arguments: [
        (#""width": 0.1, "turn": 30"#, FailureCode.unknownParameter, ".turn"),
        (#""width": 0.1, "tile": {"step": [1, 1]}"#, .unknownParameter, ".tile"),
        (#""width": 0.1, "shadow": {}"#, .unknownParameter, ".shadow"),
        (#""width": 0.1, "stroke": {}"#, .unknownParameter, ".stroke"),
        (#""text": "© {creator}", "size": 0.1"#, .unknownParameter, ".size"),
        (#""text": "© {creator}""#, .unknownParameter, ".text"),
    ])
    func `refuses what a blend mode does not have, and names the place that has it`(
        fields: String, code: FailureCode, field: String
    ) {
        expect(code, naming: "edit.filters[0]" + field, "edit.renditions.NAME.marks") {
            try Edit(json: #"{"filters": [\#(Self.step(fields))]}"#)
        }
    }

    @Test(arguments: [
        (#""opacity": 1"#, FailureCode.missingField, "width"),
        (#""width": 0"#, .parameterOutOfRange, "width"),
        (#""width": 200"#, .invalidValue, "unit px"),
        (#""width": 0.1, "margin": 20"#, .invalidValue, "margin"),
        (#""width": 16385, "unit": "px""#, .parameterOutOfRange, "width"),
        (#""width": 0.1, "margin": -1"#, .parameterOutOfRange, "margin"),
        (#""width": 0.1, "unit": "em""#, .invalidValue, "unit"),
        (#""width": 0.1, "blend": "hue""#, .invalidValue, "blend"),
        (#""width": 0.1, "at": "top""#, .invalidValue, "at"),
        (#""width": 0.1, "at": "north", "focus": [0, 1]"#, .invalidValue, "focus and at"),
        (#""width": 0.1, "opacity": 1.1"#, .parameterOutOfRange, "opacity"),
    ])
    func `is refused when it is read if it cannot be carried out`(
        fields: String, code: FailureCode, part: String
    ) {
        expect(code, naming: part, "edit.filters[0]") {
            try Edit(json: #"{"filters": [\#(Self.step(fields))]}"#)
        }
    }
}
