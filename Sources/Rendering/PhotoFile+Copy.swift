import Adjustments
import Headers
import JPEG
import Pixels
import RenderProtocol
import Vips

extension PhotoFile {
    /// Its picture, or a small copy of it that was shrunk while it was decoded.
    ///
    /// - Parameter copySize: size of the copy as stored, before orientation; nil for the photo itself.
    /// - Throws: `VipsError` or `Failure`.
    func image(failOn: Image.FailOn, copySize: PixelSize?) throws -> Image {
        let photo = try image(failOn: failOn)
        guard let copySize else { return photo }
        let small = try shrunkWhileDecoded(photo, failOn: failOn, atLeast: copySize) ?? photo
        return try small.resized(width: copySize.width, height: copySize.height)
    }

    /// A JPEG at eighths of its size, with the metadata that libvips has read; nil where that cannot be.
    private func shrunkWhileDecoded(_ photo: Image, failOn: Image.FailOn, atLeast size: PixelSize)
        throws -> Image?
    {
        guard format == .jpeg else { return nil }
        do {
            guard let image = try JPEGCopy.image(self, atLeast: size) else { return nil }
            return try image.changing(
                ResultMetadata.fields.compactMap { name in
                    photo.data(name).map { .setData(name, $0) }
                })
        } catch let error as JPEGError {
            // libvips goes on with what is left of a damaged photo when it is let.
            if error.kind == .damaged, failOn != .warning { return nil }
            throw Failure(error, photo: name)
        }
    }

    /// Side of the copy that statistics are taken from: percentiles of 60 000 pixels are those of all.
    private static let statisticsSide = 256

    /// What it is like as a whole.
    func statistics(storedSize: PixelSize) throws(Failure) -> PhotoStatistics {
        do {
            let copySize = storedSize.shrunk(Self.statisticsSide, of: storedSize)
            let copy = try image(failOn: .truncated, copySize: copySize)
            return PhotoStatistics(codes: try StandardImage(copy).inPlainSRGB().pixels())
        } catch {
            throw Failure(reading: error, photo: name)
        }
    }
}

extension StandardImage {
    /// In 8-bit sRGB without alpha, computed now: small pictures only.
    func inPlainSRGB() throws(VipsError) -> Image {
        try image.running(
            PixelProgram(
                source: layout, filters: [], target: .init(sample: .encoded8, bands: 3),
                height: image.height, colour: colour, targetColour: .sRGB)
        ).inMemory()
    }
}

extension PixelSize {
    /// The size at which a picture made of one of this size has the given longest side, or nil when
    /// it is no larger anyway.
    ///
    /// - Parameter result: the picture that is made of one of this size.
    func shrunk(_ longestSide: Int, of result: PixelSize) -> PixelSize? {
        let factor = Double(longestSide) / Double(max(result.width, result.height))
        guard factor < 1 else { return nil }
        return PixelSize(
            width: max(1, Int((Double(width) * factor).rounded())),
            height: max(1, Int((Double(height) * factor).rounded())))
    }
}
