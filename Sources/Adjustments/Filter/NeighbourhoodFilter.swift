/// A filter whose result at a pixel depends on pixels around it.
public protocol NeighbourhoodFilter: Sendable {
    /// The steps that make it, first one first; none when it changes nothing.
    var stages: [any WindowStage] { get }
}

extension NeighbourhoodFilter {
    /// How far it looks to each side.
    public var reach: (columns: Int, rows: Int) {
        stages.reduce((0, 0)) { ($0.0 + $1.columns, $0.1 + $1.rows) }
    }
}

/// One step of a neighbourhood filter, on linear light multiplied by alpha.
public protocol WindowStage: Sendable {
    /// How far it looks to each side.
    var columns: Int { get }
    /// How far it looks up and down.
    var rows: Int { get }
    /// Computes a rectangle from one that is `columns` and `rows` larger on each side.
    ///
    /// - Parameter bands: samples of a pixel: 3, or 4 with alpha.
    func run(_ input: SampleRectangle, _ output: SampleRectangle, bands: Int)
    /// Computes a rectangle from a whole picture, whose outermost pixels go on outside.
    ///
    /// - Parameter shift: the output's pixel (0, 0) lies at this place of the input.
    func run(
        whole input: SampleRectangle, _ output: SampleRectangle, bands: Int,
        shift: (column: Int, row: Int))
}

/// A rectangle of interleaved Float samples. The memory belongs to the caller.
public struct SampleRectangle {
    /// Where it lies in its picture.
    public let left, top: Int
    /// Its size in pixels.
    public let width, height: Int
    /// The first sample of the first row.
    public let start: UnsafeMutablePointer<Float>
    /// Samples from one row to the next.
    public let stride: Int

    /// Makes a rectangle of memory that the caller owns.
    public init(
        left: Int, top: Int, width: Int, height: Int, start: UnsafeMutablePointer<Float>,
        stride: Int
    ) {
        self.left = left
        self.top = top
        self.width = width
        self.height = height
        self.start = start
        self.stride = stride
    }

    /// The first sample of a row, counted from the top of the rectangle.
    public func row(_ index: Int) -> UnsafeMutablePointer<Float> { start + index * stride }
}
