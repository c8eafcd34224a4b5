import Glibc

extension Mark {
    /// The places of a mark's copies in a rendition, in whole pixels from the top left.
    public struct Placement: Sendable, Equatable {
        /// The rectangle that a copy takes, turned as it is drawn.
        public let size: PixelSize
        /// The top left corners of the copies, row by row of the lattice; one without a lattice. A copy of a lattice may lie partly outside,
        /// or as a whole if its shadow reaches inside.
        public let stamps: [Stamp]

        public struct Stamp: Sendable, Equatable {
            public let left: Int, top: Int

            public init(left: Int, top: Int) { (self.left, self.top) = (left, top) }
        }
    }

    /// Returns a length in whole pixels of a rendition.
    func pixels(_ length: Length, in rendition: PixelSize) -> Int {
        length.pixels(of: side(rendition))
    }

    private func side(_ rendition: PixelSize) -> Int {
        isInPixels ? 1 : min(rendition.width, rendition.height)
    }

    /// Returns a length in 1/64 pixel of a rendition.
    public func sixtyFourths(_ length: Length, in rendition: PixelSize) -> Int {
        length.sixtyFourths(of: side(rendition))
    }

    /// Returns how far a shadow is moved, in whole pixels of a rendition.
    public func offset(of shadow: Shadow, in rendition: PixelSize) -> (right: Int, up: Int) {
        (pixels(shadow.right, in: rendition), pixels(shadow.up, in: rendition))
    }

    /// Returns the longest line of a text in 1/64 pixel, a fraction of the rendition's width; 0 for any.
    public func maxWidth(of text: Text, in rendition: PixelSize) -> Int {
        text.maxWidth.map { max(1, $0.sixtyFourths(of: isInPixels ? 1 : rendition.width)) } ?? 0
    }

    /// Returns the size to which a picture is scaled before it is turned, and whether it had to be reduced: the rectangle of the turned
    /// picture fits into the rendition.
    public func size(
        of picture: PixelSize, width: Length, in rendition: PixelSize
    ) -> (size: PixelSize, isReduced: Bool) {
        func scaled(to width: Int) -> PixelSize {
            PixelSize(
                width: width,
                height: max(1, roundedQuotient(width * picture.height, picture.width)))
        }
        func fits(_ size: PixelSize) -> Bool {
            let box = size.turned(by: turnOfContent)
            return box.width <= rendition.width && box.height <= rendition.height
        }
        let wanted = scaled(to: max(1, width.pixels(of: isInPixels ? 1 : rendition.width)))
        if fits(wanted) { return (wanted, false) }
        // The widest one that fits: halving, because the sides of a turned one are no ratio.
        var (fitting, tooWide) = (0, wanted.width)
        while tooWide - fitting > 1 {
            let middle = (fitting + tooWide) / 2
            if fits(scaled(to: middle)) { fitting = middle } else { tooWide = middle }
        }
        guard fitting > 0 else {
            // One pixel wide, and still too high: the height decides.
            return (PixelSize(width: 1, height: max(1, min(wanted.height, rendition.height))), true)
        }
        return (scaled(to: fitting), true)
    }

    /// Places a mark.
    ///
    /// - Parameters:
    ///   - flat: its size in the rendition before any turn.
    ///   - drawing: the pixels that a copy draws, from the top left corner of the turned mark, shadow included; nil for those of the mark.
    ///   - path: its name in errors, such as `marks[0]`.
    /// - Throws: `invalidValue` if the copies of a lattice would overlap, or are too many.
    public func placement(
        of flat: PixelSize, in rendition: PixelSize, drawing: Fit.Window? = nil, at path: String
    ) throws(Failure) -> Placement {
        let size = flat.turned(by: turnOfContent)
        let margin = pixels(margin, in: rendition)
        let left = Self.start(of: size.width, in: rendition.width, at.x, margin)
        let top = Self.start(of: size.height, in: rendition.height, Focus.scale - at.y, margin)
        let anchor = Placement.Stamp(left: left, top: top)
        guard let tile else { return Placement(size: size, stamps: [anchor]) }
        let step = (
            x: pixels(tile.stepX, in: rendition), y: pixels(tile.stepY, in: rendition)
        )
        let inLattice = flat.turned(by: turn)
        guard step.x >= inLattice.width, step.y >= inLattice.height else {
            throw Failure(
                .invalidValue,
                "\(path).tile.step is \(step.x) × \(step.y) pixels, and the mark has \(inLattice); expected is at least "
                    + "the mark's size.")
        }
        let lattice = Lattice(
            tile: tile, step: step, anchor: anchor, size: size,
            drawing: drawing ?? Fit.Window(size), rendition: rendition)
        guard let stamps = lattice.stamps(atMost: ContractLimits.stampsMax) else {
            throw Failure(
                .invalidValue,
                "\(path).tile.step of \(step.x) × \(step.y) pixels gives more than \(ContractLimits.stampsMax) copies in "
                    + "\(rendition); expected is a longer step.")
        }
        return Placement(size: size, stamps: stamps)
    }

    /// Returns the first pixel of `length` in a side, at a point of it: at the margin from an edge, in the middle rounded half up. The
    /// margin gives way where there is no room.
    private static func start(of length: Int, in side: Int, _ focus: Int, _ margin: Int) -> Int {
        let room = side - length
        let start =
            switch focus {
            case 0: margin
            case Focus.scale: room - margin
            default:
                margin * 2 <= room
                    ? margin + roundedQuotient((room - 2 * margin) * focus, Focus.scale)
                    : roundedQuotient(max(0, room) * focus, Focus.scale)
            }
        return max(0, min(start, room))
    }
}

/// The copies of a mark, turned around the middle of the first one.
private struct Lattice {
    let tile: Mark.Tile
    let step: (x: Int, y: Int)
    let anchor: Mark.Placement.Stamp
    let size: PixelSize
    /// The pixels that a copy draws, from its top left corner.
    let drawing: Fit.Window
    let rendition: PixelSize

    /// Returns the copies of which something is drawn on the rendition; nil if there are more than a number.
    func stamps(atMost most: Int) -> [Mark.Placement.Stamp]? {
        let (cosine, sine) = Rotation.of(tile.turn)
        let middle = (
            x: Double(anchor.left) + Double(size.width) / 2,
            y: Double(anchor.top) + Double(size.height) / 2
        )
        // The rendition's corners in steps of the lattice, with what a copy draws around: y is downwards, a turn counter-clockwise.
        let half = (x: Double(size.width) / 2, y: Double(size.height) / 2)
        let least = half.x + half.y
        let right = max(least, half.x - Double(drawing.left))
        let left = max(least, Double(drawing.left + drawing.width) - half.x)
        let below = max(least, half.y - Double(drawing.top))
        let above = max(least, Double(drawing.top + drawing.height) - half.y)
        var columns = (least: Double.infinity, most: -Double.infinity)
        var rows = columns
        for x in [-left, Double(rendition.width) + right] {
            for y in [-above, Double(rendition.height) + below] {
                let (dx, dy) = (x - middle.x, y - middle.y)
                let column = (cosine * dx - sine * dy) / Double(step.x)
                let row = (sine * dx + cosine * dy) / Double(step.y)
                columns = (min(columns.least, column), max(columns.most, column))
                rows = (min(rows.least, row), max(rows.most, row))
            }
        }
        let across = Int(columns.least.rounded(.down)) - 1...Int(columns.most.rounded(.up)) + 1
        let down = Int(rows.least.rounded(.down))...Int(rows.most.rounded(.up))
        // A turned lattice has places outside of the rendition, at most some three for one inside.
        guard across.count * down.count <= 4 * most + 1_000 else { return nil }
        var stamps: [Mark.Placement.Stamp] = []
        for row in down {
            let shift = tile.isStaggered && row & 1 == 1 ? 0.5 : 0
            for column in across {
                let (x, y) = (
                    (Double(column) + shift) * Double(step.x), Double(row) * Double(step.y)
                )
                let left = rounded(middle.x + cosine * x + sine * y - half.x)
                let top = rounded(middle.y - sine * x + cosine * y - half.y)
                let (first, row) = (left + drawing.left, top + drawing.top)
                guard first < rendition.width, row < rendition.height, first + drawing.width > 0,
                    row + drawing.height > 0
                else { continue }
                stamps.append(Mark.Placement.Stamp(left: left, top: top))
            }
        }
        return stamps.count <= most ? stamps : nil
    }

    private func rounded(_ value: Double) -> Int { Int((value + 0.5).rounded(.down)) }
}

/// A turn in degrees, with exact quarters.
public enum Rotation {
    public static func of(_ degrees: Double) -> (cosine: Double, sine: Double) {
        let quarters = degrees.truncatingRemainder(dividingBy: 360) / 90
        guard quarters == quarters.rounded() else {
            let angle = degrees * Double.pi / 180
            return (cos(angle), sin(angle))
        }
        let index = (Int(quarters) % 4 + 4) % 4
        return ([1, 0, -1, 0][index], [0, 1, 0, -1][index])
    }
}

extension PixelSize {
    /// Returns the whole pixels around a turned rectangle.
    public func turned(by degrees: Double) -> PixelSize {
        let (cosine, sine) = Rotation.of(degrees)
        let (width, height) = (Double(width), Double(height))
        // Less than a billionth of a pixel is an error of the sine.
        func pixels(_ length: Double) -> Int { max(1, Int((length - 1e-9).rounded(.up))) }
        return PixelSize(
            width: pixels(width * abs(cosine) + height * abs(sine)),
            height: pixels(width * abs(sine) + height * abs(cosine)))
    }
}
