import Edits
import PhotoFiles
import Codecs
import RenderProtocol

extension PhotoFile {
    /// Returns the photo's picture, or a small copy that was shrunk while it was decoded.
    ///
    /// - Parameter copySize: the stored size of the copy, before orientation; nil for the photo itself.
    /// - Throws: `VipsError` or `Failure`.
    func image(failOn: Image.FailOn, copySize: PixelSize?) throws -> Image {
        let photo = try image(failOn: failOn)
        guard let copySize else { return photo }
        return try shrunkWhileDecoded(photo, to: copySize)
            ?? photo.resized(width: copySize.width, height: copySize.height)
    }

    /// Decodes a JPEG at eighths of its size and shrinks it, with the metadata that libvips has read; nil if that is not possible.
    private func shrunkWhileDecoded(_ photo: Image, to size: PixelSize) throws -> Image? {
        guard format == .jpeg, survey?.isDeepJPEG != true else { return nil }
        do {
            for least in [1, 8] {
                guard let copy = try JPEGCopy.image(self, atLeast: size, eighthsMin: least) else {
                    return nil
                }
                if let image = try copy.image.withMetadata(of: photo).resized(
                    width: size.width, height: size.height, covered: copy.covered)
                {
                    return image
                }
            }
            return nil
        } catch let error as JPEGError {
            throw Failure(error, photo: name)
        }
    }

    /// The longest side of the copy for statistics: percentiles of 60 000 pixels equal those of all pixels.
    private static let statisticsSide = 256

    /// Returns statistics of the whole photo.
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

extension Image {
    /// Returns the picture with the metadata that libvips has read of a photo.
    func withMetadata(of photo: Image) throws(VipsError) -> Image {
        try changing(
            ResultMetadata.fields.compactMap { name in
                photo.data(name).map { .setData(name, $0) }
            })
    }
}

extension StandardImage {
    /// Returns the picture in 8-bit sRGB without alpha, computed at once: for small pictures only.
    func inPlainSRGB() throws(VipsError) -> Image {
        try image.running(
            PixelProgram(
                source: layout, filters: [], target: .init(sample: .encoded8, bands: 3),
                height: image.height, colour: colour, targetColour: .sRGB)
        ).inMemory()
    }
}

extension PixelSize {
    /// Returns the size of a source whose result has the given longest side, or nil if the result is no larger anyway.
    ///
    /// - Parameter result: the size of the result for a source of this size.
    func shrunk(_ longestSide: Int, of result: PixelSize) -> PixelSize? {
        let factor = Double(longestSide) / Double(max(result.width, result.height))
        guard factor < 1 else { return nil }
        return PixelSize(
            width: max(1, Int((Double(width) * factor).rounded())),
            height: max(1, Int((Double(height) * factor).rounded())))
    }
}
