import Edits

/// A picture with a transparent margin: black with alpha 0.
final class PaddedRows: RowSource {
    let format: RowFormat
    private let source: any RowSource
    private let growth: Extent
    private var y = 0

    init(_ source: any RowSource, by growth: Extent) {
        self.source = source
        self.growth = growth
        format = source.format.grown(by: growth)
    }

    func next(into row: PlanarRow) {
        defer { y += 1 }
        let width = source.format.width
        let isInside = y >= growth.rows && y < growth.rows + source.format.height
        if isInside {
            source.next(
                into: PlanarRow(start: row.start + growth.columns, stride: row.stride))
        }
        for plane in 0..<format.planes {
            let samples = row[plane]
            if isInside {
                samples.update(repeating: 0, count: growth.columns)
                (samples + growth.columns + width).update(repeating: 0, count: growth.columns)
            } else {
                samples.update(repeating: 0, count: format.width)
            }
        }
    }
}

extension RowSource {
    /// Returns the picture with a transparent margin, or itself if the margin has no extent.
    func padded(by growth: Extent) -> any RowSource {
        growth == .none ? self : PaddedRows(self, by: growth)
    }
}
