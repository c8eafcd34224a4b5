/// The way in which a picture is fitted into a box, in whole numbers.
///
/// Sides follow from ratios of whole numbers, with halves rounded up, and never from a factor: `3 × 2` to a height of 1617 is
/// 2425.5 wide and becomes 2426, which a factor in floating point misses. The rules and names are those of CSS `object-fit` and of
/// sharp, except that a box that is larger than the picture keeps its aspect (`cover`, `stretch`).
public struct Fit: Sendable, Equatable {
    /// The box; nil for the picture's own size.
    public var box: Box?
    public var rule: Rule
    /// Whether a picture that is smaller than the box is enlarged.
    public var enlarges: Bool
    /// The point that stays in view, or the place on the canvas.
    public var focus: Focus
    /// The part of the picture that is fitted; nil for all of it.
    public var crop: Crop?

    /// A box in pixels; a missing side follows the picture.
    public struct Box: Sendable, Equatable {
        public let width: Int?, height: Int?

        /// - Precondition: at least one side is given.
        public init(width: Int?, height: Int?) {
            precondition(width != nil || height != nil, "a box has a side")
            (self.width, self.height) = (width, height)
        }
    }

    /// The relation of picture and box.
    public enum Rule: String, Sendable, CaseIterable {
        /// The picture touches the box from within.
        case inside
        /// The picture touches the box from outside.
        case outside
        /// The picture covers the box, and what exceeds it is cut off.
        case cover
        /// The picture is within the box, on a canvas of its size.
        case contain
        /// The picture has the box's sides, each scaled by itself.
        case stretch
    }

    public init(
        box: Box? = nil, rule: Rule = .inside, enlarges: Bool = false, focus: Focus = .center,
        crop: Crop? = nil
    ) {
        self.box = box
        self.rule = rule
        self.enlarges = enlarges
        self.focus = focus
        self.crop = crop
    }
}

/// A point of a picture in fractions of its sides, from the bottom left, in whole millionths: decimal fractions stay exact.
public struct Focus: Sendable, Equatable {
    /// Millionths of the width from the left, and of the height from the bottom; 0 to ``scale``.
    public let x: Int, y: Int

    /// The parts of a whole side.
    public static let scale = 1_000_000
    public static let center = Focus(x: scale / 2, y: scale / 2)

    public init(x: Int, y: Int) { (self.x, self.y) = (x, y) }

    /// The named places of `at`, by compass.
    public static let named: [String: Focus] = {
        let columns = [("west", 0), ("", scale / 2), ("east", scale)]
        let rows = [("south", 0), ("", scale / 2), ("north", scale)]
        var named: [String: Focus] = [:]
        for (row, y) in rows {
            for (column, x) in columns {
                let name = row + column
                named[name.isEmpty ? "center" : name] = Focus(x: x, y: y)
            }
        }
        return named
    }()
}

extension Fit {
    /// A rectangle in fractions of a picture's sides, from the bottom left, in whole millionths.
    public struct Crop: Sendable, Equatable {
        public let x: Int, y: Int, width: Int, height: Int

        public init(x: Int, y: Int, width: Int, height: Int) {
            (self.x, self.y, self.width, self.height) = (x, y, width, height)
        }

        /// Returns the pixels that it covers: its edges are rounded half up, and it has at least one pixel.
        func window(of size: PixelSize) -> Window {
            func span(_ start: Int, _ length: Int, _ side: Int) -> (start: Int, length: Int) {
                let from = min(roundedQuotient(start * side, Focus.scale), side - 1)
                let to = min(roundedQuotient((start + length) * side, Focus.scale), side)
                return (from, max(1, to - from))
            }
            let columns = span(x, width, size.width)
            let rows = span(Focus.scale - y - height, height, size.height)
            return Window(
                left: columns.start, top: rows.start, width: columns.length, height: rows.length)
        }
    }

    /// Whole pixels of a picture, from the top left.
    public struct Window: Sendable, Equatable {
        public let left: Int, top: Int, width: Int, height: Int

        public init(left: Int, top: Int, width: Int, height: Int) {
            (self.left, self.top, self.width, self.height) = (left, top, width, height)
        }

        public init(_ size: PixelSize) {
            self.init(left: 0, top: 0, width: size.width, height: size.height)
        }

        public var size: PixelSize { PixelSize(width: width, height: height) }
    }

    /// A picture, scaled and placed.
    public struct Placement: Sendable, Equatable {
        /// The part of the picture that is scaled.
        public let part: Window
        /// The size of this part after scaling.
        public let scaled: PixelSize
        /// The pixels of the scaled part that are seen.
        public let shown: Window
        /// The size of the result.
        public let size: PixelSize
        /// The place of the shown pixels in the result, from its top left: 0, 0 unless they lie on a canvas.
        public let left: Int, top: Int

        /// Whether a canvas is seen around the picture.
        public var hasCanvas: Bool { shown.size != size }
    }

    /// Returns the placement of a picture of this size.
    public func placement(of picture: PixelSize) -> Placement {
        let part = crop?.window(of: picture) ?? Window(picture)
        let size = part.size
        guard let box else { return placed(part, size, in: size) }
        guard let width = box.width, let height = box.height else {
            let scaled = follow(size, width: box.width, height: box.height)
            guard rule == .contain else { return placed(part, scaled, in: scaled) }
            return placed(
                part, scaled,
                in: PixelSize(
                    width: box.width ?? scaled.width, height: box.height ?? scaled.height))
        }
        let wanted = PixelSize(width: width, height: height)
        switch rule {
        case .inside:
            let scaled = touching(size, wanted, fromWithin: true)
            return placed(part, scaled, in: scaled)
        case .outside:
            let scaled = touching(size, wanted, fromWithin: false)
            return placed(part, scaled, in: scaled)
        case .contain:
            return placed(part, touching(size, wanted, fromWithin: true), in: wanted)
        case .cover:
            let scaled = touching(size, wanted, fromWithin: false)
            let isCovered = scaled.width >= width && scaled.height >= height
            return placed(part, scaled, in: isCovered ? wanted : size.largestPart(of: wanted))
        case .stretch:
            let isSmaller = size.width < width || size.height < height
            let scaled = isSmaller && !enlarges ? size.largestPart(of: wanted) : wanted
            return placed(part, scaled, in: scaled)
        }
    }

    /// Returns the size that touches the box; the picture's own if it would grow and may not.
    private func touching(_ size: PixelSize, _ box: PixelSize, fromWithin: Bool) -> PixelSize {
        let byWidth = box.width * size.height
        let byHeight = box.height * size.width
        return (fromWithin ? byWidth <= byHeight : byWidth >= byHeight)
            ? follow(size, width: box.width, height: nil)
            : follow(size, width: nil, height: box.height)
    }

    /// Returns the size with this width or height; the picture's own if it would grow and may not.
    private func follow(_ size: PixelSize, width: Int?, height: Int?) -> PixelSize {
        if let width, enlarges || width <= size.width {
            return PixelSize(
                width: width, height: max(1, roundedQuotient(width * size.height, size.width)))
        }
        if let height, enlarges || height <= size.height {
            return PixelSize(
                width: max(1, roundedQuotient(height * size.width, size.height)), height: height)
        }
        return size
    }

    /// Cuts the scaled picture to the result, or puts it on a larger canvas, each side by itself.
    private func placed(_ part: Window, _ scaled: PixelSize, in size: PixelSize) -> Placement {
        let fromTop = Focus.scale - focus.y
        let columns = Self.span(scaled.width, in: size.width, focus.x)
        let rows = Self.span(scaled.height, in: size.height, fromTop)
        return Placement(
            part: part, scaled: scaled,
            shown: Window(
                left: columns.cut, top: rows.cut, width: min(scaled.width, size.width),
                height: min(scaled.height, size.height)),
            size: size, left: columns.margin, top: rows.margin)
    }

    /// Returns the pixels that are cut off before the shown ones, and those of the canvas before them.
    private static func span(_ scaled: Int, in side: Int, _ focus: Int) -> (cut: Int, margin: Int) {
        scaled > side
            ? (start(of: side, in: scaled, around: focus), 0)
            : (0, (side - scaled) * focus / Focus.scale)
    }

    /// Returns the first of `length` pixels around a point of a side, rounded half up and moved inside.
    ///
    /// - Parameter focus: the point in millionths of the side.
    package static func start(of length: Int, in side: Int, around focus: Int) -> Int {
        let twice = 2 * Focus.scale
        let start = (2 * focus * side - Focus.scale * length + Focus.scale)
        return min(max(0, start >= 0 ? start / twice : 0), side - length)
    }
}

extension PixelSize {
    /// Returns the size of the largest part with the aspect of another size: one side is kept, the other is rounded half up.
    package func largestPart(of aspect: PixelSize) -> PixelSize {
        if aspect.height * width <= aspect.width * height {
            return PixelSize(
                width: width, height: max(1, roundedQuotient(width * aspect.height, aspect.width)))
        }
        return PixelSize(
            width: max(1, roundedQuotient(height * aspect.width, aspect.height)), height: height)
    }
}

/// Returns a quotient of whole numbers that are not negative, rounded half up.
package func roundedQuotient(_ dividend: Int, _ divisor: Int) -> Int {
    (2 * dividend + divisor) / (2 * divisor)
}
