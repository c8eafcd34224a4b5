/// A small curve over time, with a text alternative.
package struct Spark: View {
    let name: String
    /// The newest value.
    let latest: String
    let unit: String
    /// The points of a polyline in a box of ``width`` × ``height``.
    let points: String
    /// The same points, closed along the bottom.
    let area: String
    let text: String
    let tone: String
    let width: Int
    let height: Int

    /// The box in which the curve is drawn.
    private static let box = (width: 240, height: 48)
    /// The most points of a curve; more values are averaged.
    private static let pointsMax = 120

    /// - Parameters:
    ///   - name: the name of the counted quantity: `Jobs a second`.
    ///   - values: the values at equal intervals, the oldest first.
    ///   - span: the total time, as text: `the last hour`.
    package init(
        _ name: String, _ values: [Double], unit: String, over span: String = "the last hour",
        isTrouble: Bool = false
    ) {
        self.name = name
        self.unit = unit
        (width, height) = Self.box
        let values = Self.thinned(values.map { $0.isFinite ? max($0, 0) : 0 })
        let highest = values.max() ?? 0
        latest = values.last.map(short) ?? "–"
        tone = isTrouble && highest > 0 ? "trouble" : "busy"
        text =
            values.isEmpty
            ? "the first value comes some 20 s after the gateway's start"
            : "now \(short(values[values.count - 1])), least \(short(values.min() ?? 0)), most \(short(highest)) "
                + "in \(span)"
        let step = values.count > 1 ? Double(width) / Double(values.count - 1) : 0
        let top = 2.0
        let room = Double(height) - 2 * top
        points = values.enumerated().map { index, value in
            let y = top + (highest > 0 ? room * (1 - value / highest) : room)
            return Self.number(Double(index) * step) + "," + Self.number(y)
        }.joined(separator: " ")
        area =
            values.count > 1 ? "0,\(height) " + points + " \(width),\(height)" : ""
    }

    private static func thinned(_ values: [Double]) -> [Double] {
        guard values.count > pointsMax else { return values }
        return (0..<pointsMax).map { index in
            let from = index * values.count / pointsMax
            let to = max(from + 1, (index + 1) * values.count / pointsMax)
            return values[from..<to].reduce(0, +) / Double(to - from)
        }
    }

    private static func number(_ value: Double) -> String {
        let tenths = whole(value * 10) ?? 0
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
    }
}
