import Edits
import MinilabTesting
import Testing

@Suite("The schemas and the code say the same") struct SchemaTests {
    @Test func `the schema and the page of filters are those that the catalogue makes`() throws {
        for (file, units) in [
            ("filters.schema.json", Units.pixels), ("filters.relative.schema.json", .relative),
        ] {
            let schema = try JSONValue(parsing: Contract.text(file), as: file)
            #expect(schema == FilterSchema.json(in: units), "run ops/generate")
        }
        let page = try FilterPage.markdown(examples: Contract.text("filters/examples.json"))
        #expect(try Contract.text("FILTERS.md") == page, "run ops/generate")
    }

    /// Both judges on both sides of every limit, and on a parameter that is given by both its names.
    @Test func `schema and decoder draw the same line at every parameter's limits`() throws {
        var texts: [String] = []
        for filter in FilterCatalogue.all where !filter.isGenerator {
            for parameter in filter.parameters {
                for value in limits(of: parameter) {
                    for name in parameter.names { texts.append(edit(filter, [name: value])) }
                }
                if let value = parameter.defaultValue, parameter.names.count > 1 {
                    texts.append(
                        edit(
                            filter,
                            Dictionary(
                                uniqueKeysWithValues: parameter.names.map { ($0, value.json) })))
                }
            }
            texts.append(edit(filter, [:]))
            texts.append(edit(filter, ["inputNothing": 1]))
        }
        for (text, refusal) in zip(texts, try Schema.edit().refusals(of: texts)) {
            #expect((refusal == nil) == accepts { try Recipe(json: text) }, "\(text)")
        }
    }

    /// Steps whose lengths are relative, because the edit or the step says so, on both sides of the limits.
    @Test func `schema and decoder draw the same line at relative limits`() throws {
        var texts: [String] = []
        for filter in FilterCatalogue.all where !filter.isGenerator {
            for parameter in filter.parameters {
                let count: Int
                switch parameter.kind {
                case .number(_, .factor), .number(_, .count): continue
                case .number: count = 0
                case .vector(_, let units): count = units.count
                default: continue
                }
                for end in [0, -0.1, 4, 4.1, 16, 16.1, -16, -16.1] {
                    let value: JSONValue =
                        count == 0
                        ? .number(end) : .array(Array(repeating: .number(end), count: count))
                    texts.append(edit(filter, [parameter.name: value], in: .relative))
                }
            }
            texts.append(edit(filter, [:], in: .relative))
            texts.append(edit(filter, [:], isFilled: true, in: .relative))
        }
        let vignette = #"{"name": "CIVignetteEffect", "center": [0.5, 0.5], "radius": 0.5"#
        let digest = "sha256:" + String(repeating: "0", count: 64)
        let mark = #"{"name": "mark", "image": "\#(digest)", "width": 0.1"#
        let wide = #"{"name": "mark", "image": "\#(digest)", "width": 40"#
        let gradient =
            #"{"name": "CIRadialGradient", "center": [0, 17], "radius0": 1, "radius1": 1"#
        for (start, end) in [
            (#"{"units": "relative", "filters": ["#, "]}"), (#"{"filters": ["#, "]}"),
        ] {
            for step in [
                vignette + "}", vignette + #", "units": "relative"}"#,
                vignette + #", "units": "pixels"}"#, vignette + #", "units": "px"}"#,
                #"{"name": "CIBoxBlur", "radius": 0.5}"#,
                #"{"name": "CIBoxBlur", "radius": 0.5, "units": "relative"}"#,
                #"{"name": "CIBoxBlur", "radius": 50, "units": "pixels"}"#,
                #"{"name": "CISepiaTone", "units": "relative"}"#, #""css:blur(4px)""#,
                mark + "}", mark + #", "unit": "px"}"#, mark + #", "unit": "fraction"}"#,
                mark + #", "margin": 4.1}"#, mark + #", "margin": 4.1, "unit": "px"}"#,
                mark + #", "tile": {"step": [1, 1]}}"#, wide + "}", wide + #", "unit": "px"}"#,
                wide + #", "unit": "fraction"}"#,
                #"{"name": "CIBlendWithMask", "filters": ["css:sepia()"], "maskImage": \#(gradient)}}"#,
                #"{"name": "CIBlendWithMask", "filters": ["css:sepia()"], "maskImage": \#(gradient), "units": "pixels"}}"#,
                #"{"name": "CIBlendWithMask", "filters": ["css:sepia()"], "units": "relative", "maskImage": \#(gradient)}}"#,
            ] {
                texts.append(start + step + end)
            }
        }
        for (text, refusal) in zip(texts, try Schema.edit().refusals(of: texts)) {
            #expect((refusal == nil) == accepts { try Edit(json: text) }, "\(text)")
        }
    }

    /// Values on both sides of what a parameter takes, and of other kinds.
    private func limits(of parameter: ParameterDefinition) -> [JSONValue] {
        var values: [JSONValue] = [.null, "x", "", [], .object([:]), .bool(true), .number(1e300)]
        if let value = parameter.defaultValue { values.append(value.json) }
        func ends(_ range: ClosedRange<Double>) -> [Double] {
            [
                range.lowerBound, range.upperBound, range.lowerBound.nextDown,
                range.upperBound.nextUp,
            ]
        }
        switch parameter.kind {
        case .number(let range, _): values += ends(range).map(JSONValue.number)
        case .vector(let range, let units):
            for end in ends(range) {
                for count in units.count - 1...units.count + 1 {
                    values.append(.array(Array(repeating: .number(end), count: count)))
                }
            }
        case .color:
            values += [
                "#ff8000", "#FF80aa", "#ff800", "#ff80000", "ff8000", "#gg8000", "#ff8000\n",
                [0, 1, 0], [0, 0, 1, 1], [0, 0], [0, 0, 0, 0, 0], [0, 0, 2], [0, 0, "1"],
            ]
        case .samples(let range, let count, let groups),
            .table(let range, let count, let groups):
            // A multiple of the group, on which a schema has no say.
            for length in [count.lowerBound, count.lowerBound - groups] where length >= 0 {
                for end in ends(range) {
                    values.append(.array(Array(repeating: .number(end), count: length)))
                }
            }
        case .choice(let choices): values += choices.map(JSONValue.string)
        case .resource:
            let digits = String(repeating: "0a", count: 32)
            values += [
                .string("sha256:" + digits), .string("sha256:" + digits + "0"),
                .string("sha256:" + digits.uppercased()), .string(digits),
                .string("sha256:" + digits + "\n"),
            ]
        case .box:
            values += [
                [1, 16_384], [0, 1], [1, 16_385], [1, .null], [.null, .null], [1, .number(1.5)],
                [1],
            ]
        case .focus: values += [[0, 1], [0, .number(1.1)], [0, -1], [0], "north", "up", "North"]
        case .flag, .filters, .generator: break
        }
        return values
    }

    @Test(arguments: [
        "{}", #"{"format": "jxl"}"#, #"{"format": "JPEG"}"#, #"{"format": null}"#,
        #"{"chroma": "4:2:2"}"#, #"{"chroma": "4:1:1"}"#, #"{"chroma": 420}"#,
        #"{"hdr": "require"}"#, #"{"hdr": "maybe"}"#, #"{"hdr": true}"#,
        #"{"progressive": true}"#, #"{"progressive": 1}"#, #"{"strip": "gps"}"#,
        #"{"strip": "GPS"}"#, #"{"colorSpace": "displayP3"}"#, #"{"colorSpace": "p3"}"#,
        #"{"bitDepth": 10}"#, #"{"bitDepth": 9}"#, #"{"bitDepth": "8"}"#, #"{"bitDepth": 8.5}"#,
        #"{"compression": "none"}"#, #"{"compression": "zip"}"#, #"{"compression": 1}"#,
        #"{"background": [0, 0.5, 1]}"#, #"{"background": [0, 0.5]}"#, #"{"background": "white"}"#,
        #"{"background": [0, 0.5, 1, 1]}"#, #"{"background": [0, 0.5, 1.01]}"#,
        #"{"quality": 1}"#, #"{"quality": 1.01}"#, #"{"size": 3}"#,
        #"{"previews": []}"#, #"{"previews": [256, 1024]}"#, #"{"previews": [15]}"#,
        #"{"previews": [4097]}"#, #"{"previews": [100.5]}"#, #"{"previews": 256}"#,
        #"{"previews": [16, 17, 18, 19, 20, 21, 22, 23, 24]}"#,
        #"{"metadata": {}}"#, #"{"metadata": []}"#,
        #"{"metadata": {"creator": ["a"], "title": null}}"#,
        #"{"metadata": {"creator": "a"}}"#, #"{"metadata": {"creator": []}}"#,
        #"{"metadata": {"caption": "a\nb", "rights": "© {creator}"}}"#,
        #"{"metadata": {"title": "a\nb"}}"#,
        #"{"metadata": {"title": ""}}"#, #"{"metadata": {"title": " "}}"#,
        #"{"metadata": {"rating": -1}}"#,
        #"{"metadata": {"rating": 6}}"#, #"{"metadata": {"rating": "5"}}"#,
        #"{"metadata": {"date": "2026-11-25T14:03:00.5+01:00"}}"#,
        #"{"metadata": {"date": "2026-11-25"}}"#,
        #"{"metadata": {"contact": {"email": "a"}}}"#, #"{"metadata": {"contact": {}}}"#,
        #"{"metadata": {"contact": {"fax": "a"}}}"#, #"{"metadata": {"author": "a"}}"#,
        #"{"metadata": {"title": "Foto\u00adstudio"}}"#, #"{"metadata": {"title": "a\tb"}}"#,
        #"{"metadata": {"caption": "a\r\nb\u2028c"}}"#, #"{"metadata": {"title": "a\r\nb"}}"#,
        #"{"metadata": {"title": "a\u001bb"}}"#, #"{"metadata": {"caption": "a\u009bb"}}"#,
        #"{"metadata": {"title": "\u202ea"}}"#, #"{"keepRights": true, "strip": "all"}"#,
        #"{"keepRights": 1}"#,
    ])
    func `schema and decoder agree on the output`(_ output: String) throws {
        let text = #"{"filters": [{"name": "CIColorInvert"}], "output": \#(output)}"#
        let refusal = try Schema.edit().refusals(of: [text])[0]
        #expect((refusal == nil) == accepts { try Recipe(json: text) }, "\(output)")
    }

    @Test(arguments: [
        #"{"mode": "replace", "filters": []}"#,
        #"{"mode": "append", "filters": [], "draft": true}"#,
        #"{"mode": "prepend", "filters": []}"#, #"{"mode": "append"}"#, #"{"mode": null}"#,
        #"{"mode": "amend", "changes": []}"#, #"{"mode": "amend"}"#,
        #"{"mode": "amend", "changes": [{"step": 0, "remove": true}]}"#,
        #"{"mode": "amend", "changes": [{"step": "CIEdges", "set": {"intensity": null}}]}"#,
        #"{"mode": "amend", "changes": [{"step": 0}]}"#,
        #"{"mode": "amend", "changes": [{"step": 0, "set": {}, "remove": true}]}"#,
        #"{"mode": "amend", "changes": [{"step": 0, "set": {}, "remove": false}]}"#,
        #"{"mode": "amend", "changes": [{"step": -1, "remove": true}]}"#,
        #"{"mode": "amend", "changes": [{"step": 0.5, "remove": true}]}"#,
        #"{"mode": "amend", "changes": [{"remove": true}]}"#,
        #"{"mode": "amend", "changes": [{"step": 0, "remove": true, "why": 1}]}"#,
        #"{"mode": "revert"}"#, #"{"mode": "undo"}"#, #"{"mode": "redo", "draft": true}"#,
        #"{"mode": "revert", "output": {}}"#, #"{"mode": "render"}"#,
        #"{"mode": "render", "draft": 1}"#, #"{"mode": "render", "filters": []}"#,
        #"{"mode": "copyEdit", "from": "a.jpg", "version": "1-2"}"#, #"{"mode": "copyEdit"}"#,
        #"{"mode": "copyEdit", "from": "../a.jpg"}"#, #"{"mode": "copyEdit", "from": 3}"#,
        #"{"mode": "import", "sidecar": "a.AAE", "render": "b.jpg"}"#, #"{"mode": "import"}"#,
        #"{"mode": "import", "sidecar": "/a.AAE"}"#, #"{"mode": "import", "render": "b.jpg"}"#,
        #"{"mode": "import", "adjustmentData": {"formatIdentifier": "a", "formatVersion": "1", "data": "AAAA"}}"#,
        #"{"mode": "import", "adjustmentData": {"formatIdentifier": "a", "formatVersion": "1", "data": ""}}"#,
        #"{"mode": "import", "adjustmentData": {"formatIdentifier": "a", "formatVersion": "1", "data": "A"}}"#,
        #"{"mode": "import", "adjustmentData": {"formatIdentifier": "a", "data": "AAAA"}}"#,
        #"{"mode": "import", "sidecar": "a.AAE", "adjustmentData": {"formatIdentifier": "a", "formatVersion": "1", "data": "AAAA"}}"#,
        #"{"mode": "publish"}"#, #"{"mode": "publish", "version": "1-2"}"#,
        #"{"mode": "discard", "version": 1}"#, #"{"mode": "discard", "draft": true}"#,
    ])
    func `schema and decoder agree on the modes`(_ text: String) throws {
        let refusal = try Schema.edit().refusals(of: [text])[0]
        #expect((refusal == nil) == accepts { try Edit(json: text) }, "\(text)")
    }

    @Test(arguments: [
        #"{}"#, #"{"box": [1, 16384]}"#, #"{"box": [0, 5]}"#, #"{"box": [1, 16385]}"#,
        #"{"box": [1.5, 2]}"#, #"{"box": [null, 2]}"#, #"{"box": [null, null]}"#, #"{"box": [2]}"#,
        #"{"box": [2, 2, 2]}"#, #"{"box": null}"#, #"{"box": [2, "2"]}"#, #"{"fit": "stretch"}"#,
        #"{"fit": "stretch", "box": [2, null]}"#, #"{"fit": "stretch", "box": [2, 3]}"#,
        #"{"fit": "fill"}"#, #"{"enlarge": 1}"#, #"{"enlarge": true}"#, #"{"focus": [0, 1]}"#,
        #"{"focus": [0, 1.01]}"#, #"{"focus": [0]}"#, #"{"focus": "north"}"#, #"{"at": "north"}"#,
        #"{"at": "top"}"#, #"{"at": "north", "focus": [0, 1]}"#, #"{"crop": [0, 0, 1, 1]}"#,
        #"{"crop": [0, 0, 1]}"#, #"{"crop": [0, 0, -1, 1]}"#, #"{"sharpen": 1}"#,
        #"{"sharpen": 1.1}"#, #"{"format": "mov"}"#, #"{"format": "jxl", "bitDepth": 16}"#,
        #"{"colorSpace": "source"}"#, #"{"colorSpace": "displayP3"}"#, #"{"hdr": "keep"}"#,
        #"{"quality": 2}"#, #"{"previews": [256]}"#, #"{"hash": "thumb"}"#,
        #"{"hash": ["thumb", "blur"]}"#, #"{"hash": ["md5"]}"#, #"{"hash": []}"#,
        #"{"required": false}"#, #"{"required": 0}"#, #"{"strip": "all", "progressive": true}"#,
        #"{"bitDepth": 8}"#, #"{"bitDepth": 16}"#, #"{"format": "avif", "bitDepth": 10}"#,
        #"{"format": "heic", "bitDepth": 16}"#, #"{"format": "webp", "bitDepth": 10}"#,
        #"{"format": "png", "bitDepth": 16}"#, #"{"format": "tiff", "bitDepth": 12}"#,
        #"{"chroma": "4:2:0"}"#, #"{"chroma": "4:2:2"}"#, #"{"format": "webp", "chroma": "4:4:4"}"#,
        #"{"format": "webp", "chroma": "4:2:0"}"#, #"{"format": "png", "chroma": "4:2:0"}"#,
        #"{"format": "avif", "chroma": "4:4:4"}"#, #"{"format": "jxl", "chroma": "4:2:0"}"#,
        #"{"format": "webp", "progressive": true}"#, #"{"format": "webp", "progressive": false}"#,
        #"{"format": "png", "progressive": true}"#, #"{"format": "tiff", "progressive": true}"#,
        #"{"compression": "fast"}"#, #"{"format": "png", "compression": "none"}"#,
        #"{"format": "png", "compression": "small"}"#,
        #"{"format": "tiff", "compression": "none"}"#,
        #"{"format": "heic", "compression": "fast"}"#,
        #"{"width": 200}"#, "[]",
    ])
    func `schema and decoder agree on a rendition`(_ rendition: String) throws {
        for text in [
            #"{"filters": [], "renditions": {"web": \#(rendition)}}"#,
            #"{"mode": "renditions", "renditions": {"web": \#(rendition)}}"#,
        ] {
            let refusal = try Schema.edit().refusals(of: [text])[0]
            #expect((refusal == nil) == accepts { try Edit(json: text) }, "\(text)")
        }
    }

    @Test(arguments: [
        #"{"image": D, "width": 0.1}"#, #"{"image": D}"#, #"{"width": 0.1}"#, "{}", "[]",
        #"{"image": D, "width": 0}"#, #"{"image": "a.png", "width": 0.1}"#,
        #"{"image": D, "width": 0.1, "text": "a"}"#, #"{"image": D, "width": 0.1, "size": 0.1}"#,
        #"{"image": D, "width": 0.1, "stroke": {"width": 0.1}}"#,
        #"{"image": D, "width": 40, "unit": "px"}"#, #"{"image": D, "width": 40, "unit": "cm"}"#,
        #"{"image": D, "width": 0.1, "at": "southeast", "margin": 0.02}"#,
        #"{"image": D, "width": 0.1, "at": "top"}"#, #"{"image": D, "width": 0.1, "margin": -1}"#,
        #"{"image": D, "width": 0.1, "at": "south", "focus": [0, 1]}"#,
        #"{"image": D, "width": 0.1, "focus": [0, 1]}"#,
        #"{"image": D, "width": 0.1, "opacity": 0}"#, #"{"image": D, "width": 0.1, "opacity": 2}"#,
        #"{"image": D, "width": 0.1, "turn": -30}"#, #"{"image": D, "width": 0.1, "turn": 361}"#,
        #"{"image": D, "width": 0.1, "blend": "multiply"}"#,
        #"{"image": D, "width": 0.1, "blend": "CIMultiplyBlendMode"}"#,
        #"{"image": D, "width": 0.1, "tile": {"step": [0.3, 0.3], "turn": 30, "stagger": true}}"#,
        #"{"image": D, "width": 0.1, "tile": {"step": [0.3]}}"#,
        #"{"image": D, "width": 0.1, "tile": {"step": [0.3, 0]}}"#,
        #"{"image": D, "width": 0.1, "tile": {"turn": 30}}"#,
        #"{"image": D, "width": 0.1, "shadow": {"offset": [0.1, -0.1], "blur": 0}}"#,
        #"{"image": D, "width": 0.1, "shadow": {"offset": [0.1], "blur": 0}}"#,
        #"{"image": D, "width": 0.1, "shadow": {"offset": [0.1, 0.1]}}"#,
        #"{"text": "a", "fonts": [D], "size": 0.1}"#, #"{"text": "a", "fonts": [D]}"#,
        #"{"text": "a", "size": 0.1}"#, #"{"text": "a", "fonts": [], "size": 0.1}"#,
        #"{"text": "", "fonts": [D], "size": 0.1}"#, #"{"text": 1, "fonts": [D], "size": 0.1}"#,
        #"{"text": "a", "fonts": [D], "size": 0.1, "width": 0.1}"#,
        #"{"text": "a", "fonts": [D], "size": 0.1, "color": [1, 0, 0]}"#,
        #"{"text": "a", "fonts": [D], "size": 0.1, "color": [1, 0]}"#,
        #"{"text": "a", "fonts": [D], "size": 0.1, "lang": "zh-Hant", "maxWidth": 0.5}"#,
        #"{"text": "a", "fonts": [D], "size": 0.1, "lang": "d_e"}"#,
        #"{"text": "a", "fonts": [D], "size": 0.1, "axes": {"wght": 700}, "index": 1}"#,
        #"{"text": "a", "fonts": [D], "size": 0.1, "axes": {"weight": 700}}"#,
        #"{"text": "a", "fonts": [D], "size": 0.1, "index": -1}"#,
        #"{"text": "a", "fonts": [D], "size": 0.1, "missing": "skip", "overflow": "fail"}"#,
        #"{"text": "a", "fonts": [D], "size": 0.1, "missing": "box"}"#,
        #"{"text": "a", "fonts": [D], "size": 0.1, "stroke": {"width": 0.1, "color": [0, 0, 0]}}"#,
        #"{"text": "a", "fonts": [D], "size": 0.1, "stroke": {"color": [0, 0, 0]}}"#,
    ])
    func `schema and decoder agree on a mark`(_ mark: String) throws {
        let digest = "\"sha256:\(String(repeating: "0", count: 64))\""
        let mark = mark.replacing(": D", with: ": \(digest)").replacing("[D]", with: "[\(digest)]")
        let text = #"{"filters": [], "renditions": {"web": {"marks": [\#(mark)]}}}"#
        let refusal = try Schema.edit().refusals(of: [text])[0]
        #expect((refusal == nil) == accepts { try Edit(json: text) }, "\(text)")
    }

    @Test(arguments: [
        "a", "a1-b", "1", "-a", "A", "a_b", "a.b", "..", "", "ä", "a\n", "list", "original",
        "render",
        String(repeating: "a", count: 32), String(repeating: "a", count: 33),
    ])
    func `schema and decoder agree on a rendition's name`(_ name: String) throws {
        let text = JSONValue.object([
            "filters": [], "renditions": .object([name: .object(["box": [100, 100]])]),
        ]).canonical
        let refusal = try Schema.edit().refusals(of: [text])[0]
        #expect((refusal == nil) == accepts { try Edit(json: text) }, "\(text)")
    }

    @Test(arguments: [0, 1, 16, 17])
    func `schema and decoder agree on the number of renditions`(_ count: Int) throws {
        let renditions = Dictionary(
            uniqueKeysWithValues: (0..<count).map { ("r\($0)", JSONValue.object([:])) })
        for fields: [String: JSONValue] in [["filters": []], ["mode": "renditions"]] {
            let text = JSONValue.object(
                fields.merging(["renditions": .object(renditions)]) { $1 }
            ).canonical
            let refusal = try Schema.edit().refusals(of: [text])[0]
            #expect((refusal == nil) == accepts { try Edit(json: text) }, "\(text)")
        }
    }

    @Test(arguments: [
        "a", "a/b", "..a", "a..", "...", ".hidden", "a b/ü.jpg", "a\\..\\b", "~", "a:b",
        "", "/", "/a", "a/", "a//b", ".", "./a", "a/.", "a/./b", "..", "../a", "a/..", "a/../b",
        "a\n", "\na", "a\u{0}b", "a\u{7f}b", "a\u{85}b", "a\u{ad}b", "\u{200f}a", "a\u{200b}",
        "a\u{202e}b", "a\u{2028}b", "\u{feff}a", "\u{1f3f4}\u{e0067}\u{e007f}", "%41", "a%2fb",
        "/\u{301}a", "../\u{301}a",
        "..\u{301}/a", ".\u{200d}./a", String(repeating: "x", count: 255),
        String(repeating: "x", count: 256), String(repeating: "x/", count: 512),
        String(repeating: "x/", count: 512) + "x", String(repeating: "x/", count: 511) + "xy",
    ])
    func `schema and decoder agree on an asset's path`(_ asset: String) throws {
        let text = JSONValue.object([
            "asset": .string(asset),
            "edit": .object(["filters": .array([.object(["name": .string("CIColorInvert")])])]),
        ]).canonical
        let refusal = try Schema.job().refusals(of: [text])[0]
        #expect((refusal == nil) == accepts { try JobRequest(json: text) }, "\(asset)")
    }

    @Test func `the limits are those of the code`() throws {
        let edit = try Schema.edit()
        let job = try Schema.job()
        #expect(edit["x-maxBytes"]?.double == Double(ContractLimits.editBytesMax))
        #expect(
            edit["$defs", "steps", "properties", "filters", "maxItems"]?.double
                == Double(ContractLimits.filtersMax))
        #expect(
            edit["$defs", "amend", "properties", "changes", "maxItems"]?.double
                == Double(ContractLimits.changesMax))
        let previews = edit["$defs", "output", "properties", "previews"]?.fields
        #expect(previews?["maxItems"]?.double == Double(ContractLimits.previewsMax))
        let side = previews?["items"]?.fields
        #expect(side?["minimum"]?.double == Double(ContractLimits.previewSideRange.lowerBound))
        #expect(side?["maximum"]?.double == Double(ContractLimits.previewSideRange.upperBound))
        var modes: Set<String> = []
        for form in [
            "steps", "amend", "copyEdit", "render", "import", "renditionsOnly", "history",
            "draftEnd",
        ] {
            guard case .array(let names)? = edit["$defs", form, "properties", "mode", "enum"]
            else { continue }
            for case .string(let name) in names { modes.insert(name) }
        }
        #expect(modes == Set(Edit.Name.allCases.map(\.rawValue)))
        #expect(edit["$defs", "side", "maximum"]?.double == Double(ContractLimits.referenceSideMax))
        #expect(
            edit["$defs", "output", "properties", "quality", "default"]?.double
                == Recipe.Output.defaultQuality)
        #expect(
            edit["$defs", "renditions", "maxProperties"]?.double
                == Double(ContractLimits.renditionsMax))
        let marks = edit["$defs", "rendition", "properties", "marks"]?.fields
        #expect(marks?["maxItems"]?.double == Double(ContractLimits.marksMax))
        #expect(
            edit["$defs", "mark", "properties", "fonts", "maxItems"]?.double
                == Double(ContractLimits.fontsMax))
        #expect(
            edit["$defs", "mark", "properties", "blend", "enum"]
                == .array(Mark.Blend.allCases.map { .string($0.rawValue) }))
        func allowed(_ field: String) -> JSONValue? {
            edit["$defs", "output", "properties", field, "enum"]
        }
        func names(_ values: [String]) -> JSONValue { .array(values.map(JSONValue.string)) }
        #expect(allowed("format") == names(Recipe.Format.allCases.map(\.rawValue)))
        #expect(allowed("chroma") == names(Recipe.Chroma.allCases.map(\.rawValue)))
        #expect(allowed("strip") == names(Recipe.Strip.allCases.map(\.rawValue)))
        #expect(allowed("colorSpace") == names(Recipe.ColorSpace.allCases.map(\.rawValue)))
        #expect(allowed("hdr") == names(Recipe.HDR.allCases.map(\.rawValue)))
        #expect(allowed("compression") == names(Recipe.Compression.allCases.map(\.rawValue)))
        #expect(
            allowed("bitDepth")
                == .array(Recipe.BitDepth.allCases.map { .number(Double($0.rawValue)) }))
        #expect(job["x-maxBytes"]?.double == Double(ContractLimits.jobBytesMax))
        for limit in ["x-maxBytes", "maxLength"] {
            #expect(
                job["properties", "asset", limit]?.double == Double(ContractLimits.assetBytesMax))
        }
        #expect(
            job["properties", "id", "maxLength"]?.double == Double(ContractLimits.jobIDLengthMax))
    }

    @Test func `an event's codes, filters, formats and limits are those of the code`() throws {
        let event = try Schema.event()
        #expect(
            event["$defs", "error", "properties", "code", "enum"]
                == .array(FailureCode.allCases.map { .string($0.rawValue) }))
        #expect(
            event["$defs", "message", "maxLength"]?.double
                == Double(Failure.messageLengthMax))
        #expect(event["$defs", "job", "maxLength"]?.double == Double(ContractLimits.jobIDLengthMax))
        let data = event["$defs", "published", "properties"]?.fields
        #expect(
            event["$defs", "mode", "enum"]
                == .array(Edit.Name.allCases.map { .string($0.rawValue) }))
        #expect(
            data?["filters"]?.fields?["items"]
                == .object(["$ref": .string("filters.schema.json")]))
        #expect(
            data?["filters"]?.fields?["maxItems"]?.double == Double(ContractLimits.filtersMax))
        #expect(
            data?["render"]?.fields?["properties"]?.fields?["mediaType"]?.fields?["enum"]
                == .array(Recipe.Format.allCases.map { .string($0.mediaType) }))
    }

    /// A reader of a schema sees for each field what it is, what it does, and how it looks.
    @Test(arguments: ["edit", "job", "event"])
    func `every field is explained`(_ name: String) throws {
        let schema = try JSONValue(parsing: Contract.text("\(name).schema.json"), as: name)
        var unexplained: [String] = []
        func visit(_ value: JSONValue, at path: String) {
            if let properties = value.fields?["properties"]?.fields {
                for (field, definition) in properties {
                    let known = Set(definition.fields?.keys.map { $0 } ?? [])
                    let isExplained =
                        known.contains("$ref") || known.contains("const")
                        || known.isSuperset(of: ["title", "description"])
                    if !isExplained { unexplained.append("\(path).\(field)") }
                }
            }
            for (field, value) in value.fields ?? [:] { visit(value, at: "\(path).\(field)") }
        }
        visit(schema, at: name)
        #expect(unexplained.isEmpty)
    }

    /// An edit of one filter; parameters that have to be given and are not in question are given.
    private func edit(
        _ filter: FilterDefinition, _ parameters: [String: JSONValue], isFilled: Bool = false,
        in units: Units = .pixels
    ) -> String {
        var fields = parameters
        for parameter in filter.parameters where parameter.defaultValue == nil || isFilled {
            guard parameter.names.allSatisfy({ fields[$0] == nil }) else { continue }
            fields[parameter.name] = Self.sample(parameter)
        }
        fields["name"] = .string(filter.name)
        var edit: [String: JSONValue] = ["filters": .array([.object(fields)])]
        if units == .relative { edit["units"] = "relative" }
        return JSONValue.object(edit).canonical
    }

    /// A value that a parameter takes.
    private static func sample(_ parameter: ParameterDefinition) -> JSONValue {
        switch parameter.kind {
        case .number(let range, _): .number(range.lowerBound)
        case .vector(let range, let units):
            .array(Array(repeating: .number(range.lowerBound), count: units.count))
        case .color: "#808080"
        case .samples(let range, let count, _), .table(let range, let count, _):
            .array(Array(repeating: .number(range.lowerBound), count: count.lowerBound))
        case .choice(let choices): .string(choices[0])
        case .flag: true
        case .resource: .string("sha256:" + String(repeating: "0", count: 64))
        case .filters: .array([.object(["name": "CIColorInvert"])])
        case .generator: .object(["name": "CILinearGradient"])
        case .box: [100, 100]
        case .focus: "north"
        }
    }

    private func accepts(_ body: () throws -> some Any) -> Bool {
        do {
            _ = try body()
            return true
        } catch {
            return false
        }
    }
}
