import Edits

/// A filter made of ``ColourTransform``s of sRGB-encoded values, each clamped to 0 to 1: CSS functions.
struct EncodedMatrixPixels: FusiblePixels {
    let transforms: [ColourTransform]
    var form: PixelForm? { .encodedMatrices(transforms) }

    func apply(to pixels: PixelChunk) {
        pixels.encode()
        for transform in transforms {
            transform.apply(to: pixels)
            pixels.clamp()
        }
        pixels.decode()
    }
}
