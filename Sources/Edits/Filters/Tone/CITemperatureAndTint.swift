import Edits

/// CITemperatureAndTint: colours that are neutral under one light become neutral under another.
enum CITemperatureAndTint {
    /// Beside the locus by 1/20 of the CIE 1960 diagram: the scale of raw converters.
    private static let tints = -150.0...150.0

    private static func white(_ name: String, _ summary: String) -> ParameterDefinition {
        .vector(
            name, summary, default: [6500, 0], tints.lowerBound...WhitePoint.kelvins.upperBound,
            [.kelvin, .factor])
    }

    static let definition = FilterDefinition(
        name: "CITemperatureAndTint",
        summary: "Changes the white balance.",
        category: .tone,
        parameters: [
            white(
                "inputNeutral",
                "The light of the photo: temperature (1000 to 25000) and tint (-150 to 150, green)."
            ),
            white(
                "inputTargetNeutral",
                "The light to show it in; a lower temperature is warmer."),
        ],
        fidelity: .measured(rms: 2.07),
        source: """
            Bradford adaptation between whites of the daylight locus (the Planckian one below 3000 K), not renormalised. \
            Measured for 6500 → 4000; von Kries is off by 5.6. How Core Image scales tint is unknown: ours is Adobe's.
            """,
        gain: .carried,
        light: .unlimited,
        kernel: .pixel { filter, _ throws(Failure) in
            MatrixPixels(transform: try transform(of: filter))
        })

    private static func transform(of filter: Filter) throws(Failure) -> ColourTransform {
        let (neutral, target) = (
            filter.vector("inputNeutral"), filter.vector("inputTargetNeutral")
        )
        for (name, white) in [("inputNeutral", neutral), ("inputTargetNeutral", target)] {
            guard WhitePoint.kelvins.contains(white[0]), tints.contains(white[1]) else {
                throw Failure(
                    .parameterOutOfRange,
                    "CITemperatureAndTint's \(name) is \(white[0]) K with tint \(white[1]); it takes "
                        + "\(WhitePoint.kelvins.lowerBound) to \(WhitePoint.kelvins.upperBound) K and "
                        + "\(tints.lowerBound) to \(tints.upperBound).")
            }
        }
        guard neutral != target else { return ColourTransform(scale: 1) }
        guard
            let adaptation = WhitePoint.adaptation(
                from: WhitePoint.xyz(kelvin: neutral[0], tint: neutral[1]),
                to: WhitePoint.xyz(kelvin: target[0], tint: target[1]))
        else {
            throw Failure(
                .parameterOutOfRange,
                "CITemperatureAndTint cannot adapt from \(neutral) to \(target): one of them is no light "
                    + "that eyes see as white. Use a smaller tint.")
        }
        return ColourTransform(matrix: adaptation.rows)
    }
}
