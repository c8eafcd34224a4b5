import Edits

/// CIMinimumComponent: grey of the smallest of red, green and blue.
struct CIMinimumComponent: PixelFilter {
    static let definition = FilterDefinition(
        name: "CIMinimumComponent",
        summary: "Makes a grey photo of each pixel's smallest channel.",
        category: .tone,
        fidelity: .exact,
        source: "The smallest of red, green and blue: not one pixel differs from Core Image's.",
        gain: .carried,
        light: .unlimited,
        kernel: .pixel { _, _ in CIMinimumComponent() })

    func apply(to pixels: PixelChunk) {
        let (red, green, blue) = (pixels.red, pixels.green, pixels.blue)
        for i in 0..<pixels.count { red[i] = min(red[i], green[i], blue[i]) }
        pixels.makeGrey()
    }
}
