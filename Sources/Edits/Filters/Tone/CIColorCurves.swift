import Edits

/// CIColorCurves: a curve for each of red, green and blue, by samples, in a colour space.
struct CIColorCurves: PixelFilter {
    static let definition = FilterDefinition(
        name: "CIColorCurves",
        summary: "Puts red, green and blue through a curve each.",
        category: .tone,
        parameters: [
            // 1024 samples of three numbers fill an edit; Core Image documents no limit.
            ParameterDefinition(
                name: "inputCurvesData",
                summary: "Red, green and blue of each sample, equally spaced over the domain.",
                kind: .samples(-100...100, count: 6...3072, groups: 3),
                defaultValue: [0, 0, 0, 1, 1, 1], identity: [0, 0, 0, 1, 1, 1]),
            .vector(
                "inputCurvesDomain", "The values of the first and the last sample.",
                default: [0, 1], -100...100, [.factor, .factor]),
            NamedColourSpace.parameter("inputColorSpace", "What the samples are values of."),
        ],
        fidelity: .exact,
        source: """
            Documented by Apple: straight lines between samples. Beyond the domain the outermost lines go on.
            """,
        gain: .kept,
        light: .unlimited(when: { isRising(beyondWhite: $0) }),
        kernel: .pixel { filter, _ throws(Failure) in try CIColorCurves(filter) })

    private let curves: [SampledCurve]
    private let space: NamedColourSpace

    /// Whether all three curves rise beyond white. An invalid domain passes, because it is rejected elsewhere.
    private static func isRising(beyondWhite filter: Filter) -> Bool {
        let (domain, data) = (filter.vector("inputCurvesDomain"), filter.vector("inputCurvesData"))
        let last = data.count / 3 - 1
        guard domain[0] < domain[1], last > 0 else { return true }
        return (1...last).allSatisfy { sample in
            let end = domain[0] + (domain[1] - domain[0]) * Double(sample) / Double(last)
            guard end > 1 || sample == last else { return true }
            return (0..<3).allSatisfy { data[3 * sample + $0] > data[3 * (sample - 1) + $0] }
        }
    }

    init(_ filter: Filter) throws(Failure) {
        let domain = filter.vector("inputCurvesDomain")
        guard domain[0] < domain[1] else {
            throw Failure(
                .invalidValue,
                "CIColorCurves' inputCurvesDomain is \(domain[0]) to \(domain[1]); expected its first "
                    + "number to be the smaller one.")
        }
        let data = filter.vector("inputCurvesData")
        curves = (0..<3).map { channel in
            SampledCurve(
                from: domain[0], to: domain[1],
                samples: stride(from: channel, to: data.count, by: 3).map { data[$0] })
        }
        space = NamedColourSpace(filter, "inputColorSpace")
    }

    func apply(to pixels: PixelChunk) {
        space.enter(pixels)
        for (plane, curve) in zip(pixels.colours, curves) {
            curve.apply(to: plane, count: pixels.count)
        }
        space.leave(pixels)
    }
}
