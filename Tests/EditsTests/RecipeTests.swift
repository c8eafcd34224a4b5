import Edits
import Testing

@Suite("Recipe") struct RecipeTests {
    @Test func `a parameter that is not given takes its default`() throws {
        let recipe = try Recipe(json: #"{"filters": [{"name": "CIMotionBlur"}]}"#)
        #expect(
            recipe.filters[0].parameters == [
                "inputRadius": 20, "inputAngle": 0, "edge": "clamp",
            ])
        #expect(recipe.output == Recipe.Output(format: nil, quality: 0.9))
        #expect(recipe.referenceSize == nil)
    }

    @Test func `a short name means the same as Core Image's key`() throws {
        let short = try Recipe(
            json: #"{"filters": [{"name": "CIMotionBlur", "radius": 5, "angle": 1}]}"#)
        let long = try Recipe(
            json: #"{"filters": [{"name": "CIMotionBlur", "inputRadius": 5, "inputAngle": 1}]}"#)
        #expect(short == long)
        #expect(short.digest == long.digest)
    }

    @Test func `a parameter given by both its names is refused, though they agree`() {
        expect(.invalidValue, naming: "inputIntensity and intensity") {
            try Recipe(
                json:
                    #"{"filters": [{"name": "CISepiaTone", "inputIntensity": 1, "intensity": 1}]}"#)
        }
    }

    @Test func `an unknown field is refused with its path`() {
        expect(.unknownField, naming: "edit.output.width") {
            try Recipe(json: #"{"filters": [{"name": "CIEdges"}], "output": {"width": 100}}"#)
        }
    }

    @Test func `an unknown filter is refused with the names that are most like it`() {
        expect(.unknownFilter, naming: "edit.filters[0].name", "CISepiaTone", "minilab filters") {
            try Recipe(json: #"{"filters": [{"name": "SepiaTone"}]}"#)
        }
        expect(.unknownFilter, naming: "CIPhotoEffectMono") {
            try Recipe(json: #"{"filters": [{"name": "ciphotoeffectmono"}]}"#)
        }
    }

    @Test func `an unknown parameter is refused with the names that are known`() {
        expect(.unknownParameter, naming: "edit.filters[1].inputWidth", "it takes inputIntensity") {
            try Recipe(
                json: #"{"filters": [{"name": "CIEdges"}, {"name": "CIEdges", "inputWidth": 3}]}"#)
        }
    }

    @Test func `what is wrong with a filter is told in the same words each time`() {
        let text = #"{"filters": [{"name": "CISepiaTone", "z": null, "y": "1", "b": [], "a": {}}]}"#
        for _ in 1...20 {
            expect(.unknownParameter, naming: "edit.filters[0].a is not a parameter") {
                try Recipe(json: text)
            }
        }
    }

    @Test func `a parameter outside its range is refused with value and range`() {
        expect(.parameterOutOfRange, naming: "intensity is 11.0", "0.0 to 10.0") {
            try Recipe(json: #"{"filters": [{"name": "CISepiaTone", "intensity": 11}]}"#)
        }
    }

    @Test(arguments: ["NaN", "Infinity", "1e999", "0x1", "01", ".5", "+1"])
    func `a number that JSON does not have is refused`(_ number: String) {
        expect(.malformedJSON) {
            try Recipe(json: #"{"filters": [{"name": "CISepiaTone", "intensity": \#(number)}]}"#)
        }
    }

    @Test(arguments: ["", " ", "{", "sepia", "{'filters': []}", "\u{0}", "{} {}", "{}x"])
    func `text that is no JSON is refused, in sentences that end once`(_ text: String) {
        let failure = #expect(throws: Failure.self) { try Recipe(json: text) }
        #expect(failure?.code == .malformedJSON)
        #expect(failure?.message.contains("..") == false, "\(failure?.message ?? "")")
    }

    @Test(arguments: ["null", "true", "3", #""CISepiaTone""#, "[]"])
    func `JSON that is no object is refused`(_ text: String) {
        expect(.invalidValue, naming: "expected an object") { try Recipe(json: text) }
    }

    @Test func `an edit of the most bytes is read and one more is refused`() throws {
        let text = #"{"filters": [{"name": "CIColorInvert"}]}"#
        let rest = ContractLimits.editBytesMax - text.utf8.count
        let longest = text + String(repeating: " ", count: rest)
        #expect(throws: Never.self) { try Recipe(json: longest) }
        expect(.oversizedField, naming: "65537 bytes") { try Recipe(json: longest + " ") }
    }

    @Test func `brackets nested to the limit of bytes end in an error, not in a crash`() {
        let text = String(repeating: "[", count: ContractLimits.editBytesMax)
        expect(.malformedJSON) { try Recipe(json: text) }
    }

    /// Swift sorts each row of accents in quadratic time: a key of 64,000 took 8 s.
    @Test func `a long row of accents is refused before anything compares it`() {
        let marks = String(repeating: "\u{301}", count: String.marksInARowMax)
        expect(.unknownField) { try Recipe(json: "{\"a\(marks)\": 1}") }
        expect(.invalidValue, naming: "combining marks") {
            try Recipe(json: "{\"a\(marks)\u{301}\": 1}")
        }
    }

    @Test func `the most filters are taken and one more is refused`() throws {
        let invert = try Filter("CIColorInvert")
        let most = Array(repeating: invert, count: ContractLimits.filtersMax)
        #expect(throws: Never.self) { try Recipe(filters: most) }
        expect(.oversizedField, naming: "33 filters") { try Recipe(filters: most + [invert]) }
    }

    @Test(arguments: [
        (#"{"format": "gif"}"#, "jpeg, png, tiff, webp, heic, avif, jxl"),
        (#"{"chroma": "4:1:1"}"#, "4:4:4, 4:2:2, 4:2:0"),
        (#"{"strip": "xmp"}"#, "none, gps, all"),
        (#"{"colorSpace": "p3"}"#, "source, srgb, displayP3"),
        (#"{"bitDepth": 14}"#, "8, 10, 12, 16"),
        (#"{"compression": "lzw"}"#, "none, fast, small"),
        (#"{"progressive": 1}"#, "true or false"),
        (#"{"background": [0, 0, 2]}"#, "[red, green, blue]"),
    ])
    func `an output that is not allowed is refused with what is`(output: String, allowed: String) {
        expect(.invalidValue, naming: allowed) {
            try Recipe(json: #"{"filters": [{"name": "CIEdges"}], "output": \#(output)}"#)
        }
    }

    // MARK: Scaling

    @Test func `lengths scale from the preview to the photo, angles and factors stay`() throws {
        let recipe = try Recipe(
            json: """
                {"filters": [{"name": "CIMotionBlur", "radius": 10, "angle": 1.5},
                             {"name": "CISepiaTone", "intensity": 0.5}],
                 "referenceSize": [1000, 500], "output": {"format": "png", "quality": 0.5}}
                """)
        let scaled = try recipe.resolved(for: PixelSize(width: 4000, height: 2000))
        #expect(
            scaled.filters[0].parameters == [
                "inputRadius": 40, "inputAngle": 1.5, "edge": "clamp",
            ])
        #expect(scaled.filters[1].parameters == ["inputIntensity": 0.5])
        #expect(scaled.output == recipe.output)
        #expect(scaled.referenceSize == nil, "a scaled recipe is not scaled again")
    }

    @Test func `lengths scale down as well`() throws {
        let recipe = try blur(radius: 100, referenceSize: PixelSize(width: 4000, height: 2000))
        let scaled = try recipe.resolved(for: PixelSize(width: 1000, height: 500))
        #expect(scaled.filters[0].number("inputRadius") == 25)
    }

    @Test func `a preview whose side was rounded scales by the mean of both sides`() throws {
        let recipe = try blur(radius: 10, referenceSize: PixelSize(width: 100, height: 67))
        let scaled = try recipe.resolved(for: PixelSize(width: 1000, height: 667))
        let factor = (1000.0 * 667 / (100 * 67)).squareRoot()
        #expect(abs(scaled.filters[0].number("inputRadius") - 10 * factor) < 1e-9)
    }

    @Test func `without a reference size nothing scales`() throws {
        let recipe = try blur(radius: 100, referenceSize: nil)
        #expect(try recipe.resolved(for: PixelSize(width: 9999, height: 1)) == recipe)
    }

    @Test func `a length that leaves its range by scaling is refused with both sizes`() throws {
        let recipe = try blur(radius: 400, referenceSize: PixelSize(width: 600, height: 400))
        expect(.parameterOutOfRange, naming: "600×400", "6000×4000", "4000.0") {
            try recipe.resolved(for: PixelSize(width: 6000, height: 4000))
        }
    }

    private func blur(radius: Double, referenceSize: PixelSize?) throws -> Recipe {
        try Recipe(
            filters: [Filter("CIMotionBlur", ["radius": .number(radius)])],
            referenceSize: referenceSize)
    }

    // MARK: Canonical form

    @Test func `the canonical JSON has sorted keys, full names and every default`() throws {
        let recipe = try Recipe(
            json: #"{ "output": {}, "filters": [{"angle": 0.50, "name": "CIMotionBlur"}] }"#)
        #expect(
            recipe.json.canonical
                == #"{"filters":[{"edge":"clamp","inputAngle":0.5,"inputRadius":20,"name":"CIMotionBlur"}],"#
                + #""output":{"quality":0.9}}"#)
    }

    @Test func `the canonical JSON reads back as the same recipe`() throws {
        let recipe = try Recipe(
            json: """
                {"filters": [{"name": "CIMotionBlur", "radius": 12.25}, {"name": "CIEdges"}],
                 "referenceSize": [1024, 768],
                 "output": {"format": "jpeg", "quality": 0.1, "chroma": "4:2:2",
                            "progressive": true, "strip": "gps", "colorSpace": "displayP3",
                            "bitDepth": 8, "compression": "none", "background": [0, 0.5, 1]}}
                """)
        #expect(
            recipe.output
                == .init(
                    format: .jpeg, quality: 0.1, chroma: .halfColumns, progressive: true,
                    strip: .gps, colorSpace: .displayP3, bitDepth: .eight,
                    compression: .uncompressed, background: .init(red: 0, green: 0.5, blue: 1)))
        let again = try Recipe(json: recipe.json.canonical)
        #expect(again == recipe)
        #expect(again.digest == recipe.digest)
    }

    /// A fixed value: a digest that changes makes stored ones worthless.
    @Test func `the digest is the SHA-256 of the canonical JSON`() throws {
        let recipe = try Recipe(json: #"{"filters": [{"name": "CISepiaTone", "intensity": 0.8}]}"#)
        #expect(
            recipe.json.canonical
                == #"{"filters":[{"inputIntensity":0.8,"name":"CISepiaTone"}],"output":{"quality":0.9}}"#
        )
        #expect(recipe.digest == "f0d0e185df4a5b5dde83feac931aa50311e7ae89ac52fb2844af33abc14e1dd7")
    }

    @Test func `recipes that do different things have different digests`() throws {
        let texts = [
            #"{"filters": [{"name": "CIColorInvert"}]}"#,
            #"{"filters": [{"name": "CIColorInvert"}, {"name": "CIColorInvert"}]}"#,
            #"{"filters": [{"name": "CIColorInvert"}], "output": {"quality": 0.8}}"#,
            #"{"filters": [{"name": "CIColorInvert"}], "output": {"format": "png"}}"#,
            #"{"filters": [{"name": "CIColorInvert"}], "output": {"strip": "all"}}"#,
            #"{"filters": [{"name": "CIColorInvert"}], "output": {"bitDepth": 16}}"#,
            #"{"filters": [{"name": "CIColorInvert"}], "output": {"compression": "small"}}"#,
            #"{"filters": [{"name": "CIColorInvert"}], "referenceSize": [10, 10]}"#,
            #"{"filters": [{"name": "CIEdges"}, {"name": "CIColorInvert"}]}"#,
            #"{"filters": [{"name": "CIColorInvert"}, {"name": "CIEdges"}]}"#,
        ]
        #expect(Set(try texts.map { try Recipe(json: $0).digest }).count == texts.count)
    }
}
