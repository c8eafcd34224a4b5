import Edits

// Steps that exist in requests only: they are recorded as the filters that they become for the photo.

/// `crop`: cuts to an aspect; recorded as CICrop.
enum AspectCrop {
    static let definition = FilterDefinition(
        name: "crop",
        summary: "Cuts the photo to an aspect, around a point that stays in view.",
        category: .geometry,
        parameters: [
            .init(
                name: "aspect",
                summary:
                    "Width and height of the result in relation, in whole numbers, such as [4, 5].",
                kind: .vector(sides, [.count, .count]), defaultValue: nil),
            .init(
                name: "turnable",
                summary:
                    "Whether the aspect is that of a landscape and turned for a portrait, or the other way round.",
                kind: .flag, defaultValue: false),
            .focus,
            .number(
                "zoom", "How many times smaller than the largest crop each side is.", default: 1,
                1...1000),
        ],
        fidelity: .exact,
        source: """
            Exists in requests, and is recorded as CICrop with whole pixels. The side that limits the crop is kept whole, the \
            other is rounded, halves up; the crop's middle is the focus, moved as far as the crop fits into the photo. A \
            photo that has the aspect gets no step.
            """,
        kernel: .sized { filter, path throws(Failure) in
            let crop = try Crop(filter, at: path)
            return { place throws(Failure) in
                try SizedFilters(Filter.crop(crop.window(of: place.size), of: place.size))
            }
        })

    private static let sides = 1.0...10_000

    private struct Crop: Sendable {
        let aspect: PixelSize
        let isTurnable: Bool
        let focus: Focus
        /// In millionths, as places are: decimal fractions stay exact.
        let zoom: Int

        init(_ filter: Filter, at path: String) throws(Failure) {
            let sides = filter.vector("aspect")
            guard let width = Int(exactly: sides[0]), let height = Int(exactly: sides[1]) else {
                throw Failure(
                    .invalidValue,
                    "\(path).aspect is \(sides); expected two whole numbers from 1 to 10000, such as [4, 5]."
                )
            }
            aspect = PixelSize(width: width, height: height)
            isTurnable = filter.flag("turnable")
            focus = filter.focus("focus")
            zoom = Int((filter.number("zoom") * Double(Focus.scale)).rounded())
        }

        func window(of size: PixelSize) -> Fit.Window {
            let isTurned =
                isTurnable
                && (size.width - size.height).signum() * (aspect.width - aspect.height).signum() < 0
            let most = size.largestPart(
                of: isTurned
                    ? PixelSize(width: aspect.height, height: aspect.width) : aspect)
            let width = max(1, roundedQuotient(most.width * Focus.scale, zoom))
            let height = max(1, roundedQuotient(most.height * Focus.scale, zoom))
            return Fit.Window(
                left: Fit.start(of: width, in: size.width, around: focus.x),
                top: Fit.start(of: height, in: size.height, around: Focus.scale - focus.y),
                width: width, height: height)
        }
    }
}

/// `resize`: fits the photo into a box; recorded as CILanczosScaleTransform, and CICrop where it is cut.
enum Resize {
    static let definition = FilterDefinition(
        name: "resize",
        summary: "Makes the photo as large as a box in pixels.",
        category: .geometry,
        parameters: [
            .init(
                name: "box",
                summary:
                    "Width and height of the box, 1 to 16384; the result of a side that is null follows from the other.",
                kind: .box, defaultValue: nil),
            .choice(
                "fit",
                "inside: touches the box from within; outside: from outside; cover: is cut to the box; stretch: each side by itself.",
                ["inside", "outside", "cover", "stretch"]),
            .init(
                name: "enlarge",
                summary: "Whether a photo that is smaller than the box is enlarged.",
                kind: .flag, defaultValue: false),
            .focus,
        ],
        fidelity: .measured(rms: 0.83),
        source: """
            Exists in requests, and is recorded as CILanczosScaleTransform, followed by CICrop where cover cuts. Sides are \
            whole numbers by the rules of renditions; a photo that has the size gets no step.
            """,
        kernel: .sized { filter, path throws(Failure) in
            let fit = try fit(filter, at: path)
            return { place throws(Failure) in
                let placement = fit.placement(of: place.size)
                return try SizedFilters(
                    Filter.scale(place.size, to: placement.scaled)
                        + Filter.crop(placement.shown, of: placement.scaled))
            }
        })

    private static func fit(_ filter: Filter, at path: String) throws(Failure) -> Fit {
        let box = filter.box("box")
        guard let rule = Fit.Rule(rawValue: filter.text("fit")) else {
            preconditionFailure("\(filter.text("fit")) was checked to be a rule")
        }
        guard rule != .stretch || (box.width != nil && box.height != nil) else {
            throw Failure(
                .invalidValue,
                "\(path).box has one side, and fit is \"stretch\"; expected both sides.")
        }
        return Fit(
            box: box, rule: rule, enlarges: filter.flag("enlarge"), focus: filter.focus("focus"))
    }
}

extension ParameterDefinition {
    fileprivate static let focus = ParameterDefinition(
        name: "focus",
        summary:
            "What stays in view: fractions of width and height from the bottom left, or a place by name.",
        kind: .focus, defaultValue: .focus(.center))
}

extension Filter {
    /// Returns CICrop to whole pixels; nothing if they are all of the picture.
    fileprivate static func crop(
        _ window: Fit.Window, of size: PixelSize
    ) throws(Failure) -> [Filter] {
        guard window.size != size else { return [] }
        let bottom = size.height - window.top - window.height
        return [
            try Filter(
                "CICrop",
                [
                    "inputRectangle": .vector(
                        [window.left, bottom, window.width, window.height].map(Double.init))
                ])
        ]
    }

    /// Returns CILanczosScaleTransform; nothing if the picture has the size.
    ///
    /// Sides are rounded up with a slack of 1e-6, and 17 digits are exact to 1e-10 of the longest side, so the result has these
    /// sides exactly.
    fileprivate static func scale(
        _ size: PixelSize, to wanted: PixelSize
    ) throws(Failure) -> [Filter] {
        guard wanted != size else { return [] }
        let scale = Double(wanted.height) / Double(size.height)
        let across = Double(wanted.width) / Double(size.width)
        return [
            try Filter(
                "CILanczosScaleTransform",
                ["inputScale": .number(scale), "inputAspectRatio": .number(across / scale)],
                at: "resize of a picture of \(size) to \(wanted)")
        ]
    }
}
