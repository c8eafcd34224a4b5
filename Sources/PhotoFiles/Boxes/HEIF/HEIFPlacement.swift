/// The shown part of a coded picture and its orientation: `clap`, `irot` and `imir` combined.
///
/// The coordinates of a shown pixel (x, y) are first mirrored according to ``flipsColumns`` and ``flipsRows``, then swapped if it
/// ``transposes``: the result is its position in the window. Source: ISO/IEC 23008-12 §6.5.10 and §6.5.12, ISO/IEC 14496-12 §12.1.4.
public struct HEIFPlacement: Sendable, Equatable {
    /// The position of the shown part, in pixels of the coded picture.
    public private(set) var left = 0, top = 0
    private var columns: Int
    private var rows: Int
    public private(set) var transposes = false
    public private(set) var flipsColumns = false
    public private(set) var flipsRows = false

    /// Creates the placement that shows a whole picture as it is coded.
    public init(width: Int, height: Int) { (columns, rows) = (width, height) }

    public var codedWidth: Int { columns }
    public var codedHeight: Int { rows }
    /// Whether the picture is turned or mirrored before it is displayed.
    public var isTurned: Bool { transposes || flipsColumns || flipsRows }
    public var width: Int { transposes ? rows : columns }
    public var height: Int { transposes ? columns : rows }

    /// Turns counter-clockwise by quarters.
    mutating func rotate(quarterTurns: Int) {
        switch quarterTurns & 3 {
        case 1: add(transposes: true, flipsColumns: false, flipsRows: true)
        case 2: add(transposes: false, flipsColumns: true, flipsRows: true)
        case 3: add(transposes: true, flipsColumns: true, flipsRows: false)
        default: break
        }
    }

    mutating func mirror(swapsLeftAndRight: Bool) {
        add(transposes: false, flipsColumns: swapsLeftAndRight, flipsRows: !swapsLeftAndRight)
    }

    /// Returns the placement in another orientation: rows become columns, then left and right are swapped, then top and bottom.
    public func turned(transposes: Bool, mirrors: Bool, flips: Bool) -> HEIFPlacement {
        var placement = self
        placement.add(transposes: transposes, flipsColumns: mirrors, flipsRows: flips)
        return placement
    }

    /// Applies an orientation to the part shown so far.
    private mutating func add(transposes: Bool, flipsColumns: Bool, flipsRows: Bool) {
        let before = (columns: self.flipsColumns, rows: self.flipsRows)
        self.flipsColumns = flipsColumns != (transposes ? before.rows : before.columns)
        self.flipsRows = flipsRows != (transposes ? before.columns : before.rows)
        self.transposes = self.transposes != transposes
    }

    /// Crops the part that another placement does not show of its picture, in proportion and to whole pixels, leaving at least one.
    ///
    /// - Parameters:
    ///   - other: a placement that shows a part of a picture of `whole` pixels as it is coded.
    mutating func cut(like other: HEIFPlacement, of whole: (width: Int, height: Int)) {
        func part(_ start: Int, _ count: Int, of whole: Int, on side: Int) -> (Int, Int) {
            let scale = Double(side) / Double(whole)
            let first = min(Int((Double(start) * scale).rounded()), side - 1)
            let end = min(Int((Double(start + count) * scale).rounded()), side)
            return (first, max(1, end - first))
        }
        let across = part(other.left, other.columns, of: whole.width, on: columns)
        let down = part(other.top, other.rows, of: whole.height, on: rows)
        (left, top) = (left + across.0, top + down.0)
        (columns, rows) = (across.1, down.1)
    }

    /// Crops the part shown so far. A part of the aperture outside of the picture is ignored.
    ///
    /// - Returns: false if nothing would be left.
    mutating func crop(to aperture: CleanAperture) -> Bool {
        guard
            let across = aperture.span(aperture.width, aperture.horizontalOffset, of: width),
            let down = aperture.span(aperture.height, aperture.verticalOffset, of: height)
        else { return false }
        let x = flipsColumns ? width - across.upperBound : across.lowerBound
        let y = flipsRows ? height - down.upperBound : down.lowerBound
        (left, top) = (left + (transposes ? y : x), top + (transposes ? x : y))
        (columns, rows) =
            transposes ? (down.count, across.count) : (across.count, down.count)
        return true
    }
}

/// The content of a `clap`: width, height, and the position of the centre, as fractions.
///
/// Source: ISO/IEC 14496-12 §12.1.4.
public struct CleanAperture: Sendable, Equatable {
    /// In pixels; offsets are the distances of the centre to the right of, and below, the picture's centre.
    public let width, height, horizontalOffset, verticalOffset: Double

    /// Nil if it is too short, or has a denominator of zero.
    init?(_ content: ArraySlice<UInt8>) {
        var cursor = ByteCursor(content)
        func fraction() -> Double? {
            guard let upper = cursor.number(4), let lower = cursor.number(4), lower != 0 else {
                return nil
            }
            // Offsets are signed, and so may be their denominators.
            return Double(Int32(truncatingIfNeeded: upper))
                / Double(Int32(truncatingIfNeeded: lower))
        }
        guard let width = fraction(), let height = fraction(), let across = fraction(),
            let down = fraction()
        else { return nil }
        (self.width, self.height) = (width, height)
        (horizontalOffset, verticalOffset) = (across, down)
    }

    /// Returns the shown pixels of one direction; nil for none.
    func span(_ length: Double, _ offset: Double, of whole: Int) -> Range<Int>? {
        let count = length.rounded()
        let first = (offset + (Double(whole) - length) / 2).rounded(.down)
        let bounds = max(0, first)..<max(max(0, first), min(Double(whole), first + count))
        let span = Int(bounds.lowerBound)..<Int(bounds.upperBound)
        return span.isEmpty ? nil : span
    }
}
