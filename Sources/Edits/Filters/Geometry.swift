import Edits
import Glibc

/// CIPerspectiveCorrection: rectifies an obliquely photographed rectangle.
enum CIPerspectiveCorrection {
    static let definition = FilterDefinition(
        name: "CIPerspectiveCorrection",
        summary: "Cuts out what was photographed aslant between four places, as a rectangle.",
        category: .geometry,
        parameters: Corners.parameters,
        fidelity: .lookAlike,
        source: """
            The inverse of CIPerspectiveTransform. How large Core Image makes the result is unpublished; ours is as wide and \
            as high as the longer of the two opposite sides. Resampled by bicubic interpolation in linear light.
            """,
        kernel: .geometry { filter, context throws(Failure) in
            let corners = try Corners.of(filter)
            func side(_ a: Int, _ b: Int) -> Double {
                let (dx, dy) = (corners[a].x - corners[b].x, corners[a].y - corners[b].y)
                return (dx * dx + dy * dy).squareRoot()
            }
            let width = max(1, max(side(0, 1), side(3, 2)).rounded())
            let height = max(1, max(side(0, 3), side(1, 2)).rounded())
            guard let map = Homography(width: width, height: height, to: corners),
                width <= Canvas.sideMax, height <= Canvas.sideMax
            else {
                throw Failure(
                    .tooManyPixels,
                    "CIPerspectiveCorrection's corners make a picture of \(width)×\(height) pixels."
                )
            }
            return Geometry(
                of: context.size, size: PixelSize(width: Int(width), height: Int(height)),
                toSource: map)
        })
}

/// CIPerspectiveTransform: maps the photo's corners to four places.
enum CIPerspectiveTransform {
    static let definition = FilterDefinition(
        name: "CIPerspectiveTransform",
        summary: "Shows the photo aslant, with its corners at four places.",
        category: .geometry,
        parameters: Corners.parameters,
        fidelity: .lookAlike,
        source: """
            The result is the smallest rectangle of whole pixels around the four places, transparent outside of the photo \
            (white in formats without transparency). Resampled by bicubic interpolation in linear light.
            """,
        kernel: .geometry { filter, context throws(Failure) in
            let corners = try Corners.of(filter)
            let (width, height) = (Double(context.size.width), Double(context.size.height))
            guard let map = Homography(width: width, height: height, to: corners) else {
                preconditionFailure("a convex quadrilateral has no three corners on a line")
            }
            return try Canvas.around(context.size, moved: map, by: "\(filter.name)'s corners")
        })
}

/// The four corners that are parameters of the perspective filters.
enum Corners {
    /// The parameters. Core Image's own defaults only suit its example.
    static let parameters: [ParameterDefinition] = [
        .point("inputTopLeft", "The top left corner.", default: [118, 484]),
        .point("inputTopRight", "The top right corner.", default: [646, 507]),
        .point("inputBottomRight", "The bottom right corner.", default: [548, 140]),
        .point("inputBottomLeft", "The bottom left corner.", default: [155, 153]),
    ]

    /// Returns the corners counter-clockwise from the bottom left.
    ///
    /// - Throws: `invalidValue` if they are not a convex quadrilateral in this order.
    static func of(_ filter: Filter) throws(Failure) -> [Point] {
        let corners = ["BottomLeft", "BottomRight", "TopRight", "TopLeft"].map { name in
            let point = filter.vector("input" + name)
            return Point(point[0], point[1])
        }
        let isConvex = (0..<4).allSatisfy { index in
            let (a, b, c) = (corners[index], corners[(index + 1) % 4], corners[(index + 2) % 4])
            // Twice the area of the triangle: at least a pixel, and counter-clockwise.
            return (b.x - a.x) * (c.y - b.y) - (b.y - a.y) * (c.x - b.x) >= 1
        }
        guard isConvex else {
            throw Failure(
                .invalidValue,
                "\(filter.name)'s corners "
                    + corners.map { "(\($0.x), \($0.y))" }.joined(separator: ", ")
                    + " (bottom left, bottom right, top right, top left) are no quadrilateral with four "
                    + "corners outward in this order, with y counted from the bottom.")
        }
        return corners
    }
}

/// The rectangle of whole pixels around a mapped picture.
enum Canvas {
    /// Longest side of a picture, in pixels: libvips' `VIPS_MAX_COORD`.
    static let sideMax = 10_000_000.0
    /// Smallest area of a result, in pixels: a smaller result would be invisible.
    private static let areaMin = 1e-3
    /// A corner less than this beyond a whole pixel, in pixels, does not enlarge the rectangle.
    private static let slack = 1e-6

    /// Returns the geometry of a whole picture moved by `map`.
    ///
    /// - Parameter name: the origin of the map, for errors.
    /// - Throws: `invalidValue` for a map that makes the picture vanish; `tooManyPixels`.
    static func around(_ size: PixelSize, moved map: Homography, by name: String)
        throws(Failure) -> Geometry
    {
        let corners = PixelRectangle(size).corners.map { map($0) }
        guard let back = map.inverse, area(of: corners) >= areaMin else {
            throw Failure(
                .invalidValue,
                "\(name) makes a line or a point of the picture, which has \(size) pixels.")
        }
        let (left, width) = try span(corners.map(\.x), of: name)
        let (bottom, height) = try span(corners.map(\.y), of: name)
        return Geometry(
            of: size, size: PixelSize(width: width, height: height),
            toSource: back * .shift(left, bottom))
    }

    /// Computes the area by Gauss' formula; 0 if a corner is not finite.
    private static func area(of corners: [Point]) -> Double {
        var area = 0.0
        for (index, here) in corners.enumerated() {
            let next = corners[(index + 1) % corners.count]
            area += (here.x * next.y - next.x * here.y) / 2
        }
        return area.isFinite ? abs(area) : 0
    }

    private static func span(_ values: [Double], of name: String) throws(Failure)
        -> (start: Double, length: Int)
    {
        let start = ((values.min() ?? 0) + slack).rounded(.down)
        let end = ((values.max() ?? 0) - slack).rounded(.up)
        guard end - start <= sideMax else {
            throw Failure(
                .tooManyPixels,
                "\(name) makes a picture with a side of \(end - start) pixels; at most "
                    + "\(Int(sideMax)) are possible.")
        }
        return (start, max(1, Int(end - start)))
    }
}

/// CILanczosScaleTransform: scales by the Lanczos kernel with three lobes in linear light.
enum CILanczosScaleTransform {
    static let definition = FilterDefinition(
        name: "CILanczosScaleTransform",
        summary: "Makes the photo larger or smaller.",
        category: .geometry,
        parameters: [
            // Core Image documents no limits. Ours: a thousandth of the largest photo is a pixel or two, and beyond a factor of a
            // hundred no photo fits into the limit on pixels.
            .number(
                "inputScale", "By what the height grows.", default: 1, 0.001...100, identity: 1),
            .number(
                "inputAspectRatio", "By what the width grows beyond that.", default: 1,
                0.01...100, identity: 1),
        ],
        fidelity: .measured(rms: 0.83),
        source: """
            Lanczos with three lobes in linear light, anchored at the bottom left. Sides are rounded up: a last row or \
            column that the photo covers only in part is transparent in part, as in Core Image, and filled from the \
            photo's edge in formats without transparency.
            """,
        kernel: .geometry { filter, context throws(Failure) in
            let scale = filter.number("inputScale")
            let across = scale * filter.number("inputAspectRatio")
            return try Canvas.around(
                context.size, moved: Homography(affine: across, 0, 0, 0, scale, 0),
                by: "CILanczosScaleTransform's inputScale \(scale)")
        })
}

/// CIAffineTransform: turns, scales, shears and mirrors.
enum CIAffineTransform {
    static let definition = FilterDefinition(
        name: "CIAffineTransform",
        summary: "Turns, scales, shears or mirrors the photo by a matrix.",
        category: .geometry,
        parameters: [
            // A factor of a thousand far exceeds the limit on pixels.
            .vector(
                "inputTransform",
                "[a, b, c, d, tx, ty]: (x, y) goes to (a·x + c·y + tx, b·x + d·y + ty).",
                default: [1, 0, 0, 1, 0, 0], ParameterDefinition.coordinateRange,
                [.factor, .factor, .factor, .factor, .x, .y])
        ],
        fidelity: .lookAlike,
        source: """
            The result is the smallest rectangle of whole pixels around the turned photo, transparent outside of it (white \
            in formats without transparency), and later filters count from its bottom left. Core Image interpolates \
            between four pixels; here it is bicubic, or Lanczos where the sides stay parallel to the axes.
            """,
        kernel: .geometry { filter, context throws(Failure) in
            let m = filter.vector("inputTransform")
            return try Canvas.around(
                context.size, moved: Homography(affine: m[0], m[2], m[4], m[1], m[3], m[5]),
                by: "CIAffineTransform's inputTransform \(m)")
        })
}

/// `turn`: turns by quarters; no pixel changes.
enum Turn {
    static let definition = FilterDefinition(
        name: "turn",
        summary: "Turns the photo clockwise by quarter turns.",
        category: .geometry,
        parameters: [
            .number(
                "degrees", "A multiple of 90; 90 turns to the right.", default: 90, -270...270,
                .degrees, identity: 0)
        ],
        fidelity: .exact,
        source:
            "Like `CIImage.oriented()`. A JPEG is turned without being compressed again where its size allows.",
        kernel: .geometry { filter, context throws(Failure) in
            let degrees = filter.number("degrees")
            guard degrees.remainder(dividingBy: 90) == 0 else {
                throw Failure(
                    .invalidValue,
                    "turn's degrees are \(degrees); expected a multiple of 90. CIStraightenFilter and "
                        + "CIAffineTransform turn by any angle.")
            }
            return Geometry(
                of: context.size, turn: Orientation(quarters: Int(degrees / 90)))
        })
}

/// CIStraightenFilter: rotates about the centre, and enlarges so that no corner is empty.
///
///     scale = cos|a| + sin|a| · max(w/h, h/w)
enum CIStraightenFilter {
    static let definition = FilterDefinition(
        name: "CIStraightenFilter",
        summary: "Straightens a crooked photo, which keeps its size and loses its corners.",
        category: .geometry,
        parameters: [
            .number(
                "inputAngle", "How far the photo is turned counter-clockwise.", default: 0,
                -.pi / 2 ... .pi / 2, .radians, identity: 0)
        ],
        fidelity: .lookAlike,
        source: """
            Apple documents that it turns about the centre, scales up and crops to the former extent. The scale is ours: \
            the least that fills it, cos|a| + sin|a| · max(w/h, h/w). Resampled by bicubic interpolation in linear light.
            """,
        kernel: .geometry { filter, context in
            let angle = filter.number("inputAngle")
            let (width, height) = (Double(context.size.width), Double(context.size.height))
            let scale =
                cos(abs(angle)) + sin(abs(angle)) * max(width / height, height / width)
            let (c, s) = (cos(angle) / scale, sin(angle) / scale)
            let toSource =
                Homography.shift(width / 2, height / 2)
                * Homography(affine: c, s, 0, -s, c, 0)
                * Homography.shift(-width / 2, -height / 2)
            return Geometry(of: context.size, size: context.size, toSource: toSource)
        })
}

/// CICrop: crops to a rectangle; no pixel changes.
enum CICrop {
    static let definition = FilterDefinition(
        name: "CICrop",
        summary: "Cuts a rectangle out of the photo.",
        category: .geometry,
        parameters: [
            .vector(
                "inputRectangle",
                "From the left, from the bottom, width, height. It must lie within the photo.",
                default: nil, ParameterDefinition.coordinateRange, [.x, .y, .x, .y])
        ],
        fidelity: .exact,
        source: """
            Each edge is rounded to the nearest whole pixel by itself, so that rectangles that touch still do; a side that \
            would vanish is a pixel long. No pixel is resampled. Core Image would cut silently at the photo's edge; here that is an error.
            """,
        kernel: .geometry { filter, context throws(Failure) in
            let rectangle = filter.vector("inputRectangle")
            guard rectangle[2] > 0, rectangle[3] > 0 else {
                throw Failure(
                    .invalidValue,
                    "CICrop's inputRectangle \(rectangle) holds nothing; expected [x, y, width, height] with "
                        + "sides above 0.")
            }
            let (left, right) = edges(rectangle[0], rectangle[2])
            let (bottom, top) = edges(rectangle[1], rectangle[3])
            guard left >= 0, bottom >= 0, right <= context.size.width, top <= context.size.height
            else {
                throw Failure(
                    .parameterOutOfRange,
                    "CICrop's inputRectangle \(rectangle) does not lie within the picture, which has "
                        + "\(context.size) pixels there, counted from the bottom left.")
            }
            return Geometry(
                of: context.size,
                crop: PixelRectangle(
                    x: left, y: bottom, width: right - left, height: top - bottom))
        })

    private static func edges(_ start: Double, _ length: Double) -> (Int, Int) {
        let (first, last) = ((start + 0.5).rounded(.down), (start + length + 0.5).rounded(.down))
        return last > first
            ? (Int(first), Int(last)) : (Int(start.rounded(.down)), Int(start.rounded(.down)) + 1)
    }
}

/// `flip`: mirrors the photo; no pixel changes.
enum Flip {
    static let definition = FilterDefinition(
        name: "flip",
        summary: "Mirrors the photo.",
        category: .geometry,
        parameters: [
            .choice(
                "axis", "horizontal swaps left and right, vertical swaps top and bottom.",
                ["horizontal", "vertical"])
        ],
        fidelity: .exact,
        source:
            "Like `CIImage.oriented()`. A JPEG is mirrored without being compressed again where its size allows.",
        kernel: .geometry { filter, context in
            Geometry(
                of: context.size,
                turn: filter.text("axis") == "horizontal" ? .mirrored : .flipped)
        })
}
