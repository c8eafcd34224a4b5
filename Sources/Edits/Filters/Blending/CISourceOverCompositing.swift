import Edits

/// CISourceOverCompositing: a picture composited over the photo.
enum CISourceOverCompositing {
    static let definition = Overlay.definition(
        "CISourceOverCompositing", "Lays a picture on the photo: a watermark.", .measured(rms: 0.1),
        "B = s. Core Image's own pixels agree within 0.1."
    ) { _, _, _ in }
}
