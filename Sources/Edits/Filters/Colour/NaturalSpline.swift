/// The natural cubic spline through some points: twice continuously differentiable, with zero curvature at its ends, and extended
/// linearly beyond them.
struct NaturalSpline: Sendable {
    private let x, y: [Double]
    /// Second derivatives at the points.
    private let bend: [Double]

    /// Creates the spline; `x` must rise strictly, and there must be at least two points.
    init(x: [Double], y: [Double]) {
        precondition(x.count == y.count && x.count >= 2, "a spline needs two points")
        (self.x, self.y) = (x, y)
        let last = x.count - 1
        // The second derivatives solve a tridiagonal system; those at the ends are 0.
        var bend = Array(repeating: 0.0, count: x.count)
        var upper = bend
        for i in 1..<max(1, last) {
            let (before, after) = (x[i] - x[i - 1], x[i + 1] - x[i])
            let slopes = (y[i + 1] - y[i]) / after - (y[i] - y[i - 1]) / before
            let pivot = 2 * (before + after) - before * upper[i - 1]
            upper[i] = after / pivot
            bend[i] = (6 * slopes - before * bend[i - 1]) / pivot
        }
        for i in stride(from: last - 1, to: 0, by: -1) { bend[i] -= upper[i] * bend[i + 1] }
        self.bend = bend
    }

    /// Returns the spline's value.
    func value(at position: Double) -> Double {
        let last = x.count - 1
        if position <= x[0] { return y[0] + slope(at: 0, leftOf: 1) * (position - x[0]) }
        if position >= x[last] {
            return y[last] + slope(at: last, leftOf: last) * (position - x[last])
        }
        var i = 1
        while x[i] < position { i += 1 }
        let width = x[i] - x[i - 1]
        let (a, b) = ((x[i] - position) / width, (position - x[i - 1]) / width)
        let curved = (a * a * a - a) * bend[i - 1] + (b * b * b - b) * bend[i]
        return a * y[i - 1] + b * y[i] + curved * width * width / 6
    }

    /// Returns the slope at one end of the piece that ends at point `piece`.
    private func slope(at point: Int, leftOf piece: Int) -> Double {
        let width = x[piece] - x[piece - 1]
        let straight = (y[piece] - y[piece - 1]) / width
        return point < piece
            ? straight - width * (2 * bend[piece - 1] + bend[piece]) / 6
            : straight + width * (bend[piece - 1] + 2 * bend[piece]) / 6
    }
}
