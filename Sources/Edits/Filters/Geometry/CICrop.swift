import Edits

/// CICrop: crops to a rectangle; no pixel changes.
enum CICrop {
    static let definition = FilterDefinition(
        name: "CICrop",
        summary: "Cuts a rectangle out of the photo.",
        category: .geometry,
        parameters: [
            .vector(
                "inputRectangle",
                "From the left, from the bottom, width, height. It must lie within the photo.",
                default: nil, ParameterDefinition.coordinateRange, [.x, .y, .x, .y])
        ],
        fidelity: .exact,
        source: """
            Each edge is rounded to the nearest whole pixel by itself, so that rectangles that touch still do; a side that \
            would vanish is a pixel long. No pixel is resampled. Core Image would cut silently at the photo's edge; here that is an error.
            """,
        kernel: .geometry { filter, context throws(Failure) in
            let rectangle = filter.vector("inputRectangle")
            guard rectangle[2] > 0, rectangle[3] > 0 else {
                throw Failure(
                    .invalidValue,
                    "CICrop's inputRectangle \(rectangle) holds nothing; expected [x, y, width, height] with "
                        + "sides above 0.")
            }
            let (left, right) = edges(rectangle[0], rectangle[2])
            let (bottom, top) = edges(rectangle[1], rectangle[3])
            guard left >= 0, bottom >= 0, right <= context.size.width, top <= context.size.height
            else {
                throw Failure(
                    .parameterOutOfRange,
                    "CICrop's inputRectangle \(rectangle) does not lie within the picture, which has "
                        + "\(context.size) pixels there, counted from the bottom left.")
            }
            return Geometry(
                of: context.size,
                crop: PixelRectangle(
                    x: left, y: bottom, width: right - left, height: top - bottom))
        })

    /// Rounded half up.
    private static func edges(_ start: Double, _ length: Double) -> (Int, Int) {
        let (first, last) = ((start + 0.5).rounded(.down), (start + length + 0.5).rounded(.down))
        return last > first
            ? (Int(first), Int(last)) : (Int(start.rounded(.down)), Int(start.rounded(.down)) + 1)
    }
}
