import Edits

/// CIDifferenceBlendMode: B = |b − s|.
enum CIDifferenceBlendMode {
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
