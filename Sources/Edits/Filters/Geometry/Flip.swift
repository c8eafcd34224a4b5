import Edits

/// `flip`: mirrors the photo; no pixel changes.
enum Flip {
    static let definition = FilterDefinition(
        name: "flip",
        summary: "Mirrors the photo.",
        category: .geometry,
        parameters: [
            .choice(
                "axis", "horizontal swaps left and right, vertical swaps top and bottom.",
                ["horizontal", "vertical"])
        ],
        fidelity: .exact,
        source:
            "Like `CIImage.oriented()`. A JPEG is mirrored without being compressed again where its size allows.",
        kernel: .geometry { filter, context in
            Geometry(
                of: context.size,
                turn: filter.text("axis") == "horizontal" ? .mirrored : .flipped)
        })
}
