import Edits

/// A picture whose rows are computed from the surrounding rows of another.
final class WindowRows: RowSource {
    let format: RowFormat
    private let window: RowWindow
    private let make: (_ window: RowWindow, _ y: Int, _ out: PlanarRow) -> Void
    private var y = 0

    /// - Parameters:
    ///   - reach: columns and rows that are read to each side.
    ///   - make: computes row `y` of the picture.
    init(
        _ source: any RowSource, reach: Int, edge: EdgeMode = .clamp,
        make: @escaping (_ window: RowWindow, _ y: Int, _ out: PlanarRow) -> Void
    ) {
        window = RowWindow(source, rows: 2 * reach + 1, margin: reach, edge: edge)
        format = source.format
        self.make = make
    }

    func next(into out: PlanarRow) {
        make(window, y, out)
        y += 1
    }
}
