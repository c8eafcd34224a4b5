import Edits
import Glibc

/// `auto`: stretches the tones, lifts the shadows and adds colour, by amounts that depend on the photo.
///
/// Core Image's `autoAdjustmentFilters` also returns a list of filters; its choice of parameters is unpublished. Ours are chosen so
/// that a well-exposed photo hardly changes.
enum Auto {
    static let definition = FilterDefinition(
        name: "auto",
        summary: "Improves tones and colours as much as the photo needs.",
        category: .automatic,
        parameters: [
            .number(
                "strength", "How much of the improvement is made.", default: 1, 0...1, identity: 0)
        ],
        fidelity: .lookAlike,
        source: """
            Looks at a small copy of the photo as it came in, and becomes CIToneCurve, CIHighlightShadowAdjust and \
            CIVibrance with concrete parameters, which are what the adjustment data records.
            """,
        kernel: .automatic { filter, statistics throws(Failure) in
            try filters(for: statistics, strength: filter.number("strength"))
        })

    // The tones of a good photo: the darkest and brightest half percent, and the median.
    private static let ends = 0.005
    private static let blackMost = 0.12
    private static let whiteLeast = 0.8
    private static let middle = 0.46
    /// The share of the distance to ``middle`` by which the median is moved, and the bounds of the exponent.
    private static let middleShare = 0.35
    private static let exponents = 0.75...1.3
    /// The shadows are lifted if more than a tenth of the pixels are darker than this.
    private static let deepShadow = 0.12
    private static let shadowMost = 0.5
    private static let brightest = 0.97
    private static let highlightMost = 0.3
    private static let colourful = 0.25
    private static let vibranceMost = 0.35
    /// Changes below this are omitted.
    private static let least = 0.02

    /// Returns the filters that improve a photo. There is at least one: a photo that needs none is given a neutral curve.
    static func filters(for statistics: PhotoStatistics, strength: Double) throws(Failure)
        -> [Filter]
    {
        let black = min(statistics.luma(below: ends), blackMost) * strength
        let brightEnd = max(statistics.luma(below: 1 - ends), whiteLeast)
        let white = 1 - (1 - brightEnd) * strength
        func stretched(_ luma: Double) -> Double {
            min(max((luma - black) / (white - black), 0), 1)
        }
        let median = min(max(stretched(statistics.luma(below: 0.5)), 0.05), 0.95)
        let wanted = median + (middle - median) * middleShare * strength
        let exponent = min(
            max(log(wanted) / log(median), exponents.lowerBound), exponents.upperBound)
        func curve(_ luma: Double) -> Double { pow(stretched(luma), exponent) }

        var filters: [Filter] = []
        let positions = [0, 0.25, 0.5, 0.75, 1]
        let isWorthIt = positions.contains { abs(curve($0) - $0) > least }
        var points: [String: FilterValue] = [:]
        for (number, position) in positions.enumerated() {
            points["inputPoint\(number)"] = .vector([
                position, isWorthIt ? rounded(curve(position)) : position,
            ])
        }
        filters.append(try Filter("CIToneCurve", points))
        let dark = curve(statistics.luma(below: 0.1))
        let shadow = shadowMost * strength * max(0, deepShadow - dark) / deepShadow
        let blown = statistics.share(from: brightest)
        let highlight = strength * min(highlightMost, 3 * blown)
        if max(shadow, highlight) > least {
            filters.append(
                try Filter(
                    "CIHighlightShadowAdjust",
                    [
                        "inputShadowAmount": .number(rounded(shadow)),
                        "inputHighlightAmount": .number(rounded(1 - highlight)),
                    ]))
        }
        let vibrance = strength * min(max(colourful - statistics.meanSaturation, 0), vibranceMost)
        if vibrance > least {
            filters.append(try Filter("CIVibrance", ["inputAmount": .number(rounded(vibrance))]))
        }
        return filters
    }

    /// Rounds to three digits, because people read the recorded values.
    private static func rounded(_ value: Double) -> Double { (value * 1000).rounded() / 1000 }
}
