import Adjustments

/// CIDifferenceBlendMode: B = |b − s|.
enum CIDifferenceBlendMode {
    @section("minilab_filters") @used
    private static let registration: FilterRegistration = { register(definition, in: $0) }

    static let definition = Overlay.definition(
        "CIDifferenceBlendMode", "Shows how far photo and picture are from each other.",
        .measured(rms: 0.92),
        "B = |b − s|.", gain: .dropped
    ) { below, above, count in
        for i in 0..<count {
            above[i] = abs(below[i] - above[i])
        }
    }
}
