import Edits
import Foundation
import MinilabTesting
import Testing

@Suite("Units relative to the photo") struct RelativeUnitsTests {
    private func filters(_ edit: String, _ width: Int, _ height: Int) throws -> [Filter] {
        let edit = try Edit(json: edit)
        guard case .replace(let steps) = edit.mode else { return [] }
        return try Recipe(filters: steps.filters, referenceSize: steps.referenceSize)
            .resolved(for: PixelSize(width: width, height: height)).filters
    }

    private func one(_ step: String, _ width: Int, _ height: Int) throws -> Filter? {
        let filters = try filters(#"{"filters": [\#(step)]}"#, width, height)
        #expect(filters.count < 2)
        return filters.first
    }

    // MARK: crop, resize

    @Test(arguments: [
        (6000, 4000, "[4, 5]", "", [1400, 0, 3200, 4000]),
        (4000, 6000, "[4, 5]", "", [0, 500, 4000, 5000]),
        (6000, 4000, "[4, 5]", #", "focus": [0.25, 0.5]"#, [0, 0, 3200, 4000]),
        (6000, 4000, "[4, 5]", #", "focus": [0.7, 0.5]"#, [2600, 0, 3200, 4000]),
        (3024, 4032, "[16, 9]", #", "focus": [0.5, 0.7]"#, [0, 1972, 3024, 1701]),
        (101, 100, "[1, 1]", "", [1, 0, 100, 100]),
        (6000, 4000, "[4, 5]", #", "at": "west""#, [0, 0, 3200, 4000]),
        (4000, 6000, "[1, 1]", #", "at": "northeast""#, [0, 2000, 4000, 4000]),
        (4000, 6000, "[1, 1]", #", "at": "south""#, [0, 0, 4000, 4000]),
        (4000, 6000, "[3, 2]", #", "turnable": true, "zoom": 2"#, [1000, 1500, 2000, 3000]),
        (6000, 4000, "[1, 1]", #", "zoom": 1.5"#, [1667, 666, 2667, 2667]),
        (3, 9000, "[10000, 1]", "", [0, 4499, 3, 1]),
    ])
    func `a crop to an aspect is recorded in whole pixels`(
        width: Int, height: Int, aspect: String, more: String, rectangle: [Double]
    ) throws {
        let filter = try one(
            #"{"name": "crop", "aspect": \#(aspect)\#(more)}"#, width, height)
        #expect(filter?.parameters == ["inputRectangle": .vector(rectangle)])
    }

    @Test func `a step that changes nothing is not recorded`() throws {
        #expect(try one(#"{"name": "crop", "aspect": [3, 2]}"#, 1999, 1333) == nil)
        #expect(try one(#"{"name": "resize", "box": [300, 300]}"#, 300, 200) == nil)
        #expect(try one(#"{"name": "resize", "box": [1000, null]}"#, 300, 200) == nil)
    }

    @Test(arguments: [
        (6000, 4000, "[2048, 2048]", "", 2048, 1365), (3279, 6016, "[1800, 1200]", "", 654, 1200),
        (30, 20, "[null, 1617]", #", "enlarge": true"#, 2426, 1617),
        (10_000, 10, "[100, 100]", "", 100, 1), (5, 3, "[2, 2]", "", 2, 1),
        (6000, 4000, "[1080, 400]", #", "fit": "outside""#, 1080, 720),
        (300, 200, "[1000, 1000]", #", "fit": "stretch""#, 200, 200),
        (6000, 4000, "[1080, 1920]", #", "fit": "cover""#, 1080, 1920),
        (1500, 1000, "[1750, 250]", #", "fit": "cover""#, 1500, 214),
        (1500, 1000, "[1750, 250]", #", "fit": "cover", "enlarge": true"#, 1750, 250),
        (9, 7482, "[26, 26]", #", "fit": "cover""#, 9, 9),
    ])
    func `a resized photo has exactly the sides that the rules of a fit give`(
        width: Int, height: Int, box: String, more: String, wide: Int, high: Int
    ) throws {
        let filters = try filters(
            #"{"filters": [{"name": "resize", "box": \#(box)\#(more)}]}"#, width, height)
        var size = PixelSize(width: width, height: height)
        for filter in filters {
            guard case .geometry(let make) = filter.definition.kernel else { continue }
            size = try make(filter, FilterContext(size: size)).size
        }
        #expect(size == PixelSize(width: wide, height: high), "\(filters)")
        #expect(filters.allSatisfy { ["CICrop", "CILanczosScaleTransform"].contains($0.name) })
    }

    @Test func `no side gains a row or a column by the digits of its factor`() throws {
        for width in stride(from: 1, through: 9000, by: 37) {
            for box in [160, 1080, 2048] where box < width {
                let filters = try filters(
                    #"{"filters": [{"name": "resize", "box": [\#(box), null]}]}"#, width, 4000)
                guard let filter = filters.first,
                    case .geometry(let make) = filter.definition.kernel
                else { continue }
                let size = try make(
                    filter, FilterContext(size: PixelSize(width: width, height: 4000))
                )
                .size
                #expect(size.width == box)
                #expect(size.height == max(1, (2 * box * 4000 + width) / (2 * width)))
            }
        }
    }

    @Test(arguments: [
        (#"{"name": "crop"}"#, FailureCode.missingField, "aspect"),
        (#"{"name": "crop", "aspect": [4.5, 5]}"#, .invalidValue, "[4.5, 5.0]"),
        (#"{"name": "crop", "aspect": [0, 5]}"#, .parameterOutOfRange, "1.0 to 10000.0"),
        (#"{"name": "crop", "aspect": [4, 10001]}"#, .parameterOutOfRange, "10001"),
        (#"{"name": "crop", "aspect": [4]}"#, .invalidValue, "2 numbers"),
        (#"{"name": "crop", "aspect": [4, 5], "zoom": 0.5}"#, .parameterOutOfRange, "zoom"),
        (#"{"name": "crop", "aspect": [4, 5], "at": "up"}"#, .invalidValue, "northwest"),
        (#"{"name": "crop", "aspect": [4, 5], "focus": [0, 1.1]}"#, .invalidValue, "1.1"),
        (
            #"{"name": "crop", "aspect": [4, 5], "at": "north", "focus": [0, 1]}"#, .invalidValue,
            "focus and at"
        ),
        (#"{"name": "resize"}"#, .missingField, "box"),
        (#"{"name": "resize", "box": [null, null]}"#, .invalidValue, "null"),
        (#"{"name": "resize", "box": [0, 10]}"#, .invalidValue, "[0,10]"),
        (#"{"name": "resize", "box": [16385, 10]}"#, .invalidValue, "16384"),
        (#"{"name": "resize", "box": [10, 10], "fit": "contain"}"#, .invalidValue, "contain"),
        (#"{"name": "resize", "box": [10, null], "fit": "stretch"}"#, .invalidValue, "both sides"),
    ])
    func `a step that cannot be carried out is refused when it is read`(
        step: String, code: FailureCode, part: String
    ) {
        expect(code, naming: part, "edit.filters[0]") {
            try Edit(json: #"{"filters": [\#(step)]}"#)
        }
    }

    // MARK: Lengths

    static let look = """
        {"units": "relative", "filters": [{"name": "crop", "aspect": [1, 1]},
          {"name": "CIVignetteEffect", "center": [0.5, 0.5], "radius": 0.5},
          {"name": "CIGaussianBlur", "radius": 0.002}]}
        """

    @Test(arguments: [
        (6000, 4000, [1000, 0, 4000, 4000], [2000, 2000], 2000, 8),
        (800, 1200, [0, 200, 800, 800], [400, 400], 400, 1.6),
    ])
    func `lengths are parts of the picture that the step gets`(
        width: Int, height: Int, rectangle: [Double], center: [Double], radius: Double, blur: Double
    ) throws {
        let filters = try filters(Self.look, width, height)
        #expect(filters.map(\.name) == ["CICrop", "CIVignetteEffect", "CIGaussianBlur"])
        #expect(filters[0].parameters["inputRectangle"] == .vector(rectangle))
        #expect(filters[1].parameters["inputCenter"] == .vector(center))
        #expect(filters[1].parameters["inputRadius"] == .number(radius))
        #expect(filters[2].parameters["inputRadius"] == .number(blur))
        #expect(filters.allSatisfy { $0.units == .pixels })
    }

    @Test func `a step has the units of its edit, and an inner filter those of the outer one`()
        throws
    {
        let filters = try filters(
            """
            {"units": "relative", "filters": [
              {"name": "CIGaussianBlur", "units": "pixels", "radius": 3},
              {"name": "CIBlendWithMask", "filters": [{"name": "CISepiaTone"}], "maskImage":
                {"name": "CIRadialGradient", "center": [0.5, 1], "radius0": 0.1, "radius1": 0.2}},
              {"name": "CIBlendWithMask", "filters": [{"name": "CISepiaTone"}], "maskImage":
                {"name": "CIRadialGradient", "units": "pixels", "radius0": 7}},
              "css:blur(4px)"]}
            """, 600, 400)
        #expect(filters[0].parameters["inputRadius"] == 3)
        let mask = filters[1].generator("inputMaskImage")
        #expect(mask.parameters["inputCenter"] == [300, 400])
        #expect(mask.parameters["inputRadius0"] == 40)
        #expect(filters[2].generator("inputMaskImage").parameters["inputRadius0"] == 7)
        #expect(filters[3].parameters.values.contains(4))
    }

    @Test func `a blur that grows the picture is followed by larger lengths`() throws {
        let filters = try filters(
            """
            {"units": "relative", "filters": [
              {"name": "CIGaussianBlur", "radius": 0.1, "edge": "transparent"},
              {"name": "CIVignetteEffect", "center": [1, 1], "radius": 1}]}
            """, 200, 100)
        #expect(filters[1].parameters["inputCenter"] == [260, 160])
        #expect(filters[1].parameters["inputRadius"] == 160)
    }

    @Test(arguments: [
        #"{"name": "CIGaussianBlur"}"#, #"{"name": "CIVignetteEffect", "radius": 1}"#,
        #"{"name": "CIVignetteEffect", "center": [0.5, 0.5]}"#, #"{"name": "CIAffineTransform"}"#,
        #""css:blur()""#,
    ])
    func `a length that is left out is missing`(step: String) {
        expect(.missingField, naming: "edit.filters[0].", "relative units") {
            try Edit(json: #"{"units": "relative", "filters": [\#(step)]}"#)
        }
    }

    @Test func `a length beyond its range names the photo's size`() throws {
        let edit = #"{"units": "relative", "filters": [{"name": "CIBoxBlur", "radius": 0.001}]}"#
        #expect(try filters(edit, 4000, 3000).first?.parameters["inputRadius"] == 3)
        expect(
            .parameterOutOfRange, naming: "edit.filters[0].inputRadius is 0.001",
            "0.8 pixels on the photo of 1200×800", "1.0 to 500.0"
        ) { try filters(edit, 1200, 800) }
        expect(.parameterOutOfRange, naming: "4.1", "0.0 to 4.0") {
            try Edit(
                json:
                    #"{"filters": [{"name": "CIGaussianBlur", "units": "relative", "radius": 4.1}]}"#
            )
        }
    }

    @Test func `relative values with a reference size are refused`() {
        for edit in [
            #"{"units": "relative", "referenceSize": [10, 10], "filters": []}"#,
            #"{"referenceSize": [10, 10], "filters": [{"name": "CIGaussianBlur", "units": "relative", "radius": 1}]}"#,
            #"{"mode": "append", "units": "relative", "referenceSize": [10, 10], "filters": []}"#,
        ] {
            expect(.invalidValue, naming: "referenceSize", "relative") { try Edit(json: edit) }
        }
        expect(.invalidValue, naming: "pixels, relative") {
            try Edit(json: #"{"units": "percent", "filters": []}"#)
        }
        expect(.invalidValue, naming: "edit.filters[0].units", "pixels, relative") {
            try Edit(json: #"{"filters": [{"name": "CIEdges", "units": 1}]}"#)
        }
    }

    @Test func `a blend mode, whose scale is no length, has no relative units`() {
        let digest = "sha256:" + String(repeating: "0", count: 64)
        expect(.invalidValue, naming: "edit.filters[0].units", "scale", "mark") {
            try Edit(
                json: """
                    {"units": "relative", "filters": [{"name": "CISourceOverCompositing", "image": "\(digest)",
                      "position": [0, 0], "scale": 1}]}
                    """)
        }
    }

    @Test func `no filter has lengths and inner filters, so that an inner one says its own units`()
    {
        for definition in FilterCatalogue.all {
            var (hasLength, hasInner) = (false, false)
            for parameter in definition.parameters {
                switch parameter.kind {
                case .number(_, let unit): hasLength = hasLength || Self.lengths.contains(unit)
                case .vector(_, let units):
                    hasLength = hasLength || !Self.lengths.isDisjoint(with: units)
                case .filters, .generator: hasInner = true
                default: break
                }
            }
            #expect(!(hasLength && hasInner), "\(definition.name)")
        }
    }

    private static let lengths: Set<ParameterDefinition.Unit> = [.pixels, .pixelsPerPixel, .x, .y]

    @Test func `an edit in units is written as it was sent, and one in pixels as ever`() throws {
        let edit = try Edit(json: Self.look)
        #expect(try Edit(json: edit.json.canonical) == edit)
        let inside = try Edit(
            json: """
                {"filters": [{"name": "crop", "aspect": [1, 1], "at": "center"},
                  {"name": "CIVignetteEffect", "units": "relative", "center": [0.5, 0.5], "radius": 0.5},
                  {"name": "CIGaussianBlur", "radius": 0.002, "units": "relative"}]}
                """)
        #expect(inside.json.digest == edit.json.digest)
        let sepia = #"{"filters": [{"name": "CISepiaTone"}]}"#
        #expect(
            try Edit(json: #"{"units": "relative", "filters": [{"name": "CISepiaTone"}]}"#).json
                == Edit(json: sepia).json, "there is nothing in it that units change")
        #expect(
            try Edit(json: sepia).json.canonical
                == #"{"filters":[{"inputIntensity":1,"name":"CISepiaTone"}]}"#)
    }

    // MARK: Amending, copying

    @Test func `an amendment may be relative to the picture that its step gets`() throws {
        let recipe = try Recipe(filters: [
            Filter("CICrop", ["rectangle": [0, 0, 500, 400]]),
            Filter("CIGaussianBlur", ["radius": 7]),
        ])
        let edit = try Edit(
            json: """
                {"mode": "amend", "changes": [
                  {"step": 1, "set": {"units": "relative", "radius": 0.01}},
                  {"step": 0, "set": {"rectangle": [0, 0, 300, 200]}}]}
                """)
        guard case .amend(let amendments) = edit.mode else { return }
        let amended = try recipe.amended(by: amendments, of: PixelSize(width: 600, height: 400))
        #expect(amended.filters[1].parameters["inputRadius"] == 2)
        #expect(amended.filters[1].units == .pixels)
        #expect(try Edit(json: edit.json.canonical) == edit)
    }

    @Test func `a relative amendment gives the length, and in a known unit`() throws {
        let recipe = try Recipe(filters: [Filter("CIGaussianBlur", ["radius": 7])])
        let photo = PixelSize(width: 600, height: 400)
        func amend(_ set: String) throws -> Recipe {
            let edit = try Edit(
                json: #"{"mode": "amend", "changes": [{"step": 0, "set": \#(set)}]}"#)
            guard case .amend(let amendments) = edit.mode else { return recipe }
            return try recipe.amended(by: amendments, of: photo)
        }
        expect(.missingField, naming: "edit.changes[0].set.inputRadius") {
            try amend(#"{"units": "relative", "radius": null}"#)
        }
        expect(.invalidValue, naming: "edit.changes[0].set.units", "pixels, relative") {
            try amend(#"{"units": "px", "radius": 3}"#)
        }
        expect(.parameterOutOfRange, naming: "1200.0 pixels on the photo of 600×400") {
            try amend(#"{"units": "relative", "radius": 3}"#)
        }
        #expect(
            try amend(#"{"units": "pixels", "radius": 3}"#).filters[0].number("inputRadius") == 3)
    }

    @Test func `a kept recipe has relative steps as they were sent and others in pixels`() throws {
        let recipe = try Recipe(
            filters: [
                Filter("crop", ["aspect": [1, 1]]), Filter("CIGaussianBlur", ["radius": 2]),
                Filter("CIGaussianBlur", ["radius": 0.01], in: .relative),
            ], referenceSize: PixelSize(width: 300, height: 200))
        let kept = try #require(try recipe.kept(for: PixelSize(width: 6000, height: 4000)))
        #expect(kept.referenceSize == nil)
        #expect(kept.filters[0] == recipe.filters[0])
        #expect(kept.filters[1].number("inputRadius") == 40)
        #expect(kept.filters[2] == recipe.filters[2])
        let pixels = try Recipe(filters: [Filter("CIGaussianBlur", ["radius": 2])])
        #expect(try pixels.kept(for: PixelSize(width: 6000, height: 4000)) == nil)
    }

    /// The copy of an edit: pixels of its photo, with steps that make a size of their own between them.
    @Test func `after a resize, pixels of another photo scale by what the resize makes of both`()
        throws
    {
        let recipe = try Recipe(
            filters: [
                Filter("CIGaussianBlur", ["radius": 3]),
                Filter("resize", ["box": .box(Fit.Box(width: 500, height: 500))]),
                Filter("CIGaussianBlur", ["radius": 3]),
            ], referenceSize: PixelSize(width: 1000, height: 1000))
        let filters = try recipe.resolved(for: PixelSize(width: 2000, height: 2000)).filters
        #expect(
            filters.map(\.name) == ["CIGaussianBlur", "CILanczosScaleTransform", "CIGaussianBlur"])
        #expect(filters[0].number("inputRadius") == 6)
        #expect(filters[2].number("inputRadius") == 3)
    }

    // MARK: A second implementation

    private struct Line: Decodable {
        let edit: JSONValue
        let stored: [Int]
        let orientation: Int
        /// The sizes of the pictures of marks, by digest.
        let pictures: [String: [Int]]
        let filters: [JSONValue]?
        let refused: String?
    }

    /// 300 edits × 12 sizes × 8 orientations by night.
    @Test func `random edits become the filters that another program makes of them`() throws {
        var random = SeededGenerator()
        random.printSeed()
        let edits = Volume.trials(byDay: 30, byNight: 300)
        let sizes = Volume.trials(byDay: 4, byNight: 12)
        let output = try Tool.run(
            "/usr/bin/python3",
            [
                Contract.toolFolder.appending(path: "relative-edits.py").path,
                "\(UInt32.random(in: 0...UInt32.max, using: &random))", "\(edits)", "\(sizes)",
            ])
        let lines = String(decoding: output, as: UTF8.self).split(separator: "\n")
        try #require(lines.count == edits * sizes * 8)
        for text in lines {
            let line = try JSONDecoder().decode(Line.self, from: Data(text.utf8))
            let edit = try Edit(json: line.edit.canonical)
            guard case .replace(let steps) = edit.mode else { continue }
            let stored = PixelSize(width: line.stored[0], height: line.stored[1])
            let size = try #require(Orientation(rawValue: line.orientation)).size(of: stored)
            let recipe = try Recipe(filters: steps.filters)
            // Without relative values nothing is made of it here, and its errors are those of planning.
            guard recipe.dependsOnSize else { continue }
            do {
                let pictures = line.pictures.mapValues { PixelSize(width: $0[0], height: $0[1]) }
                let filters = try recipe.resolved(for: size, pictures: pictures).filters
                let theirs = try #require(line.filters, "\(line.refused ?? "") expected: \(text)")
                let expected = try Recipe(
                    json: JSONValue.object(["filters": .array(theirs)]).canonical)
                #expect(filters == expected.filters, "\(text)")
                #expect(
                    try Recipe(json: recipe.json.canonical)
                        .resolved(for: size, pictures: pictures).filters == filters)
            } catch let failure as Failure {
                #expect(failure.code.rawValue == line.refused, "\(failure): \(text)")
            }
        }
    }
}
