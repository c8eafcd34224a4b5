import Edits

/// `picture`: a file as a mask, stretched over the photo.
struct PictureGenerator: PixelFilter {
    static let definition = FilterDefinition(
        name: "picture",
        summary: "A picture of the folder of resources, stretched over the photo.",
        category: .gradient,
        parameters: [
            .init(
                name: "file", summary: "The SHA-256 of its content.", kind: .resource,
                defaultValue: nil)
        ],
        fidelity: .exact,
        source: """
            Any format that photos may have, at most 16,777,216 pixels. Of another size than the photo it is stretched to \
            it, with straight lines between its pixels.
            """,
        kernel: .generator { filter, context throws(Failure) in
            PictureGenerator(
                try context.picture(filter.text("file"), .within(context.size)), context.size)
        })

    private let picture: ResourcePicture
    private let size: PixelSize
    var usesPosition: Bool { true }

    init(_ picture: ResourcePicture, _ size: PixelSize) {
        self.picture = picture
        self.size = size
    }

    func apply(to pixels: PixelChunk) {
        let (width, height) = (picture.size.width, picture.size.height)
        let (scaleX, scaleY) = (
            Double(width) / Double(size.width), Double(height) / Double(size.height)
        )
        let v = Double(height) - pixels.y * scaleY - 0.5
        let top = v.rounded(.down)
        let down = Float(v - top)
        let first = min(max(Int(top), 0), height - 1) * width
        let second = min(max(Int(top) + 1, 0), height - 1) * width
        let light = EncodedLight.table
        picture.codes.withUnsafeBufferPointer { codes in
            for i in 0..<pixels.count {
                let u = (pixels.x + Double(i)) * scaleX - 0.5
                let left = u.rounded(.down)
                let across = Float(u - left)
                let a = min(max(Int(left), 0), width - 1)
                let b = min(max(Int(left) + 1, 0), width - 1)
                let indices = (4 * (first + a), 4 * (first + b), 4 * (second + a), 4 * (second + b))
                let shares = (
                    (1 - across) * (1 - down), across * (1 - down), (1 - across) * down,
                    across * down
                )
                // Multiplied by alpha, so that transparent pixels contribute no colour.
                let alphas = (
                    shares.0 * Float(codes[indices.0 + 3]), shares.1 * Float(codes[indices.1 + 3]),
                    shares.2 * Float(codes[indices.2 + 3]), shares.3 * Float(codes[indices.3 + 3])
                )
                let alpha = alphas.0 + alphas.1 + alphas.2 + alphas.3
                let factor = alpha > 0 ? 1 / alpha : 0
                func mixed(_ channel: Int) -> Float {
                    let sum =
                        alphas.0 * light[Int(codes[indices.0 + channel])]
                        + alphas.1 * light[Int(codes[indices.1 + channel])]
                        + alphas.2 * light[Int(codes[indices.2 + channel])]
                        + alphas.3 * light[Int(codes[indices.3 + channel])]
                    return sum * factor
                }
                pixels.red[i] = mixed(0)
                pixels.green[i] = mixed(1)
                pixels.blue[i] = mixed(2)
                pixels.alpha[i] = alpha / 255
            }
        }
    }
}

/// Linear light of 8-bit sRGB codes.
enum EncodedLight {
    static let table: [Float] = (0...255).map {
        Float(ToneCurve.sRGB.linear(Double($0) / 255))
    }
}
