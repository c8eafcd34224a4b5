import Edits

/// CIMaximumComponent: grey of the largest of red, green and blue.
struct CIMaximumComponent: PixelFilter {
    static let definition = FilterDefinition(
        name: "CIMaximumComponent",
        summary: "Makes a grey photo of each pixel's largest channel.",
        category: .tone,
        fidelity: .exact,
        source: "The largest of red, green and blue: not one pixel differs from Core Image's.",
        gain: .carried,
        light: .unlimited,
        kernel: .pixel { _, _ in CIMaximumComponent() })

    func apply(to pixels: PixelChunk) {
        let (red, green, blue) = (pixels.red, pixels.green, pixels.blue)
        for i in 0..<pixels.count { red[i] = max(red[i], green[i], blue[i]) }
        pixels.makeGrey()
    }
}
