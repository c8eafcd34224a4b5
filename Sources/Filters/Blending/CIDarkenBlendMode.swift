import Adjustments

/// CIDarkenBlendMode: B = min(b, s).
enum CIDarkenBlendMode {
    @section("minilab_filters") @used
    private static let registration: FilterRegistration = { register(definition, in: $0) }

    static let definition = Overlay.definition(
        "CIDarkenBlendMode", "Keeps the darker of photo and picture.", .measured(rms: 1.2),
        "B = min(b, s)."
    ) { below, above, count in
        for i in 0..<count {
            above[i] = min(below[i], above[i])
        }
    }
}
