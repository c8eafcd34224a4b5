import Edits
import Files
import RenderProtocol
import Codecs

extension ResourcePicture {
    /// Decodes a picture of any supported photo format.
    ///
    /// - Throws: `badResource` if it cannot be read or has too many pixels.
    init(_ resource: OpenFile, _ fit: Fit) throws(Failure) {
        do {
            let file = try PhotoFile(resource)
            let header = try file.header()
            try Self.check(header.storedSize, resource.name)
            let upright = header.uprightSize
            let size =
                switch fit {
                case .scaled(let scale):
                    PixelSize(
                        width: Self.length(upright.width, scale),
                        height: Self.length(upright.height, scale))
                case .within(let most):
                    PixelSize(
                        width: min(upright.width, most.width),
                        height: min(upright.height, most.height))
                }
            try Self.check(size, resource.name)
            let photo = try StandardImage(file.image(failOn: .truncated))
            var image = try photo.image.running(
                PixelProgram(
                    source: photo.layout, filters: [], target: .init(sample: .encoded8, bands: 4),
                    height: photo.image.height, colour: photo.colour, targetColour: .sRGB)
            ).inMemory()
            image = try image.upright(from: header.orientation, spool: .none)
            if size != upright {
                image = try image.resized(width: size.width, height: size.height)
            }
            self.init(size: size, codes: try image.pixels())
        } catch {
            let reason = Failure(reading: error, photo: resource.name).message
            throw Failure(
                .badResource, "The file of an edit is no picture that can be used: \(reason)")
        }
    }

    private static func length(_ length: Int, _ scale: Double) -> Int {
        // Bounded before the conversion to an integer.
        Int(min(max(1, (Double(length) * scale).rounded()), Double(pixelsMax) + 1))
    }

    private static func check(_ size: PixelSize, _ name: String) throws(Failure) {
        guard size.pixels <= pixelsMax else {
            throw Failure(
                .badResource,
                "\(name) would be \(size) pixels; a picture that an edit names has at most \(pixelsMax)."
            )
        }
    }
}
