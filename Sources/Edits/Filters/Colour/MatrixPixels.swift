import Edits

/// A filter that is a ``ColourTransform`` of linear light.
struct MatrixPixels: FusiblePixels {
    let transform: ColourTransform
    var form: PixelForm? { .matrix(transform) }

    func apply(to pixels: PixelChunk) { transform.apply(to: pixels) }
}
