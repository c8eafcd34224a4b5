import Edits

/// css:opacity(): multiplies alpha.
struct CSSOpacity: PixelFilter {
    static let definition = CSSFilter.definition(
        "css:opacity", "Makes the photo transparent, as CSS does.", identity: 1,
        formula: """
            alpha · a; beyond 1 acts as 1. A format without alpha shows the photo laid on the output's background.
            """, gain: .dropped, light: .unlimited
    ) { amount in
        CSSOpacity(amount: Float(min(amount, 1)))
    }

    let amount: Float
    var changesAlpha: Bool { amount < 1 }

    func apply(to pixels: PixelChunk) {
        for i in 0..<pixels.count { pixels.alpha[i] *= amount }
    }
}
