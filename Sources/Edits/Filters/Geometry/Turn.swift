import Edits

/// `turn`: turns by quarters; no pixel changes.
enum Turn {
    static let definition = FilterDefinition(
        name: "turn",
        summary: "Turns the photo clockwise by quarter turns.",
        category: .geometry,
        parameters: [
            .number(
                "degrees", "A multiple of 90; 90 turns to the right.", default: 90, -270...270,
                .degrees, identity: 0)
        ],
        fidelity: .exact,
        source:
            "Like `CIImage.oriented()`. A JPEG is turned without being compressed again where its size allows.",
        kernel: .geometry { filter, context throws(Failure) in
            let degrees = filter.number("degrees")
            guard degrees.remainder(dividingBy: 90) == 0 else {
                throw Failure(
                    .invalidValue,
                    "turn's degrees are \(degrees); expected a multiple of 90. CIStraightenFilter and "
                        + "CIAffineTransform turn by any angle.")
            }
            return Geometry(
                of: context.size, turn: Orientation(quarters: Int(degrees / 90)))
        })
}
