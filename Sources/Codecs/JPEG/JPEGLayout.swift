/// Size, colour space and sampling of a JPEG, which determine the layout of its samples in planes.
public struct JPEGLayout: Sendable, Equatable {
    /// The meaning of the components.
    public enum Colour: Int32, Sendable {
        case unknown, grey, rgb, ycbcr, cmyk, ycck
    }

    /// The sampling factors of a component, its blocks of 8 in an MCU: 2 by 2 for luma of 4:2:0.
    public struct Sampling: Sendable, Equatable {
        /// Horizontal factor, 1 to 4.
        public let horizontal: Int
        /// Vertical factor, 1 to 4.
        public let vertical: Int

        /// Makes factors.
        public init(_ horizontal: Int, _ vertical: Int) {
            self.horizontal = horizontal
            self.vertical = vertical
        }
    }

    /// Pixels from left to right, 1 to 65,500.
    public let width: Int
    /// Pixels from top to bottom, 1 to 65,500.
    public let height: Int
    /// The meaning of the components.
    public let colour: Colour
    /// The factors of each component, 1 to 4 of them.
    public let sampling: [Sampling]

    /// Makes a layout.
    public init(width: Int, height: Int, colour: Colour, sampling: [Sampling]) {
        self.width = width
        self.height = height
        self.colour = colour
        self.sampling = sampling
    }

    /// Width of an MCU in pixels. A lossless crop must begin at a multiple of it, and a lossless mirroring must have no remainder
    /// of it.
    public var mcuWidth: Int { 8 * horizontalMax }
    /// Height of an MCU in pixels.
    public var mcuHeight: Int { 8 * verticalMax }
    /// Rows of MCUs, the last of which may be partial.
    public var mcuRows: Int { (height + mcuHeight - 1) / mcuHeight }

    /// MCUs in a row, the last of which may be partial.
    public var mcusAcross: Int { (width + mcuWidth - 1) / mcuWidth }

    /// Returns the size of a component in samples, without the padding of the last blocks.
    public func size(of component: Int) -> (width: Int, height: Int) {
        let sampling = sampling[component]
        return (
            (width * sampling.horizontal + horizontalMax - 1) / horizontalMax,
            (height * sampling.vertical + verticalMax - 1) / verticalMax
        )
    }

    /// Returns the width of a component in samples, with the padding of the last block.
    public func samplesAcross(_ component: Int) -> Int {
        Self.up(width * sampling[component].horizontal, by: horizontalMax)
    }

    /// Returns the height of a component in samples, with the padding of the last block.
    public func samplesDown(_ component: Int) -> Int {
        Self.up(height * sampling[component].vertical, by: verticalMax)
    }

    /// The chroma sampling, such as 4:2:0, or nil if the components are not luma and two chromas of equal sampling.
    public var chroma: String? {
        guard sampling.count == 3, sampling[1] == Sampling(1, 1), sampling[2] == sampling[1] else {
            return nil
        }
        return switch (sampling[0].horizontal, sampling[0].vertical) {
        case (1, 1): "4:4:4"
        case (2, 1): "4:2:2"
        case (1, 2): "4:4:0"
        case (2, 2): "4:2:0"
        case (4, 1): "4:1:1"
        default: nil
        }
    }

    /// Returns the layout after a turn.
    public func turned(_ turn: JPEGTurn) -> JPEGLayout {
        guard turn.transposes else { return self }
        return JPEGLayout(
            width: height, height: width, colour: colour,
            sampling: sampling.map { Sampling($0.vertical, $0.horizontal) })
    }

    private var horizontalMax: Int { sampling.reduce(1) { max($0, $1.horizontal) } }
    private var verticalMax: Int { sampling.reduce(1) { max($0, $1.vertical) } }

    private static func up(_ scaled: Int, by factor: Int) -> Int {
        (scaled + 8 * factor - 1) / (8 * factor) * 8
    }
}
