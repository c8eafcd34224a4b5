import Edits

/// A picture with a curve applied to its colours, which are divided by alpha before and multiplied after it.
final class CurvedRows: RowSource {
    private let source: any RowSource
    private let curve: LightCurve
    var format: RowFormat { source.format }

    init(_ source: any RowSource, _ curve: LightCurve) {
        self.source = source
        self.curve = curve
    }

    func next(into row: PlanarRow) {
        source.next(into: row)
        let width = format.width
        let alpha = format.planes == 4 ? row[3] : nil
        for plane in 0..<3 {
            let colour = row[plane]
            if let alpha {
                for x in 0..<width { colour[x] = alpha[x] > 0 ? colour[x] / alpha[x] : 0 }
            }
            curve.applySigned(to: colour, count: width)
            if let alpha { for x in 0..<width { colour[x] *= alpha[x] } }
        }
    }
}
