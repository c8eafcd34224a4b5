import Edits

/// `mark`: lays a picture on the photo by a rule of place and size; exists in requests only, and is recorded as a blend mode.
enum MarkStep {
    static let definition = FilterDefinition(
        name: "mark",
        summary: "Lays a picture, such as a logo, on the photo by a rule of place and size.",
        category: .local,
        parameters: [
            .init(
                name: "image",
                summary: "The picture that is laid on the photo: the SHA-256 of its content.",
                kind: .resource, defaultValue: nil),
            .init(
                name: "width",
                summary:
                    "Its width: a fraction of the photo's, up to 4, or pixels. A mark that is larger than the photo is reduced to fit.",
                kind: .number(least...most, .factor), defaultValue: nil),
            .init(
                name: "focus",
                summary:
                    "Where it lies: a place by name, or fractions of width and height from the bottom left.",
                kind: .focus, defaultValue: .focus(.center)),
            .number(
                "margin",
                "The distance from the edges: a fraction of the photo's shorter side, up to 4, or pixels.",
                default: 0, 0...most),
            .choice(
                "unit", "fraction: width and margin are fractions, whatever the units of the edit.",
                ["fraction", "px"]),
            .number("opacity", "0 is invisible.", default: 1, 0...1, identity: 0),
            .choice(
                "blend", "How it is mixed with the photo, as the filter of this name.",
                Mark.Blend.allCases.map(\.rawValue)),
        ],
        fidelity: .exact,
        source: """
            Exists in requests, and is recorded as the blend mode with whole pixels as position, and a scale. The width is \
            rounded, halves up, the height follows by the picture's aspect, and the place is that of a rendition's mark. It \
            is part of the render and of its adjustment data; the marks of a rendition are in no adjustment data.
            """,
        gain: .recomputed,
        elsewhere: Dictionary(
            uniqueKeysWithValues: Mark.fieldsOfRenditions.map { ($0, besideRender) }),
        schemaRules: [
            .object([
                "if": .object([
                    "properties": .object(["unit": .object(["const": "px"])]),
                    "required": ["unit"],
                ]),
                "else": .object([
                    "properties": .object([
                        "width": .object(["maximum": 4]), "margin": .object(["maximum": 4]),
                    ])
                ]),
            ])
        ],
        kernel: .sized { filter, path throws(Failure) in
            let (mark, digest, width) = try mark(filter, at: path)
            return { place throws(Failure) in
                guard let picture = place.pictures[digest] else {
                    throw Failure.missingResource(digest, at: "\(path).image")
                }
                guard mark.opacity > 0 else { return SizedFilters([]) }
                let size = mark.size(of: picture, width: width, in: place.size)
                let blended = try blended(
                    mark, of: picture, digest, as: size.size, on: place.size, at: path)
                guard size.isReduced else { return SizedFilters([blended]) }
                return SizedFilters(
                    [blended],
                    note:
                        "\(path): the mark is larger than the picture of \(place.size), and is reduced to \(size.size)"
                )
            }
        })

    /// The longest length: in pixels, that of a rendition's side.
    private static let most = Double(ContractLimits.boxSideRange.upperBound)
    /// The shortest width: lengths are whole millionths.
    private static let least = 1 / Double(Focus.scale)
    private static let besideRender =
        "A mark of a rendition has it: edit.renditions.NAME.marks; a step is recorded as a blend mode, which has none."

    private static func mark(
        _ filter: Filter, at path: String
    ) throws(Failure) -> (Mark, digest: String, width: Mark.Length) {
        let lengths = LengthReader(isInPixels: filter.text("unit") == "px")
        let digest = filter.text("image")
        let width = try lengths.length(filter.number("width"), at: "\(path).width")
        let margin = try lengths.length(filter.number("margin"), at: "\(path).margin")
        guard let blend = Mark.Blend(rawValue: filter.text("blend")) else {
            preconditionFailure("\(filter.text("blend")) was checked to be a blend mode")
        }
        let mark = Mark(
            .image(digest, width: width), at: filter.focus("focus"), margin: margin,
            isInPixels: lengths.isInPixels, opacity: filter.number("opacity"), blend: blend)
        return (mark, digest, width)
    }

    /// Returns the filter that it is recorded as.
    private static func blended(
        _ mark: Mark, of picture: PixelSize, _ digest: String, as size: PixelSize,
        on photo: PixelSize, at path: String
    ) throws(Failure) -> Filter {
        let place = try mark.placement(of: size, in: photo, at: path).stamps[0]
        let bottom = photo.height - place.top - size.height
        return try Filter(
            mark.blend.filterName,
            [
                "inputImage": .text(digest),
                "position": .vector([Double(place.left), Double(bottom)]),
                "scale": .number(scale(of: picture, to: size)), "opacity": .number(mark.opacity),
            ], at: path)
    }

    /// Returns the scale by which a picture gets this size, of whose sides one follows from the other.
    static func scale(of picture: PixelSize, to size: PixelSize) -> Double {
        let sides = [
            Double(size.width) / Double(picture.width),
            Double(size.height) / Double(picture.height),
        ]
        // A quotient that is a half exactly may be below it in floating point. Half a pixel of the longest side is far more.
        let scales = sides + sides.map { $0 * (1 + 1e-12) }
        return scales.first { ResourcePicture.size(of: picture, scaledBy: $0) == size } ?? scales[0]
    }
}
