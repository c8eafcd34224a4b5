import Edits

/// The position of a photo's subject: 2 numbers for a point, 3 for a circle, 4 for a rectangle.
///
/// The centre counts from the left and from the top of the stored picture; then follow the diameter, or width and height. Source:
/// EXIF 2.32 §4.6.5, tag 9214.
struct SubjectArea: Equatable {
    let numbers: [Int]

    init?(_ numbers: [Int]) {
        guard (2...4).contains(numbers.count) else { return nil }
        self.numbers = numbers
    }

    /// Returns the area in the edited picture; nil if its centre is outside of it, or unknown.
    func moved(_ positions: PictureFacts.Positions) -> SubjectArea? {
        guard case .moved(let geometry) = positions else { return positions == .same ? self : nil }
        guard let toResult = geometry.toSource.inverse else { return nil }
        let (source, size) = (geometry.source, geometry.size)
        let centre = Point(Double(numbers[0]), Double(source.height) - Double(numbers[1]))
        let moved = toResult(centre)
        guard (0..<Double(size.width)).contains(moved.x), moved.y > 0,
            moved.y <= Double(size.height)
        else { return nil }
        let result = [moved.x, Double(size.height) - moved.y] + lengths(toResult, centre)
        guard result.allSatisfy({ $0.isFinite && (0...65_535).contains($0.rounded()) }) else {
            return nil
        }
        return SubjectArea(result.map { Int($0.rounded()) })
    }

    /// Returns the diameter, or width and height, of the bounds of the moved rectangle.
    private func lengths(_ toResult: Homography, _ centre: Point) -> [Double] {
        guard numbers.count > 2 else { return [] }
        let (across, down) = (Double(numbers[2]) / 2, Double(numbers[numbers.count - 1]) / 2)
        let corners = [(-1.0, -1.0), (1, -1), (1, 1), (-1, 1)].map { side in
            toResult(Point(centre.x + side.0 * across, centre.y + side.1 * down))
        }
        let (x, y) = (corners.map(\.x).sorted(), corners.map(\.y).sorted())
        let box = [x[3] - x[0], y[3] - y[0]]
        return numbers.count == 3 ? [(box[0] * box[1]).squareRoot()] : box
    }
}
