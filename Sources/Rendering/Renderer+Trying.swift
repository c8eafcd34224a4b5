package import Edits
import Files
package import RenderProtocol
import Codecs

extension Renderer {
    /// Writes a picture of 64 × 64 pixels in a format, by the code for photos, and reads it back.
    ///
    /// Encoders and decoders are libraries of the machine, and some are loaded by name. A missing or incompatible one is not
    /// visible in any header: libvips 8.14 with libheif 1.19 reads HEIC and fails to write any.
    ///
    /// - Parameters:
    ///   - bitDepth: bits of a written sample; nil for the usual ones.
    ///   - files: three outputs: for the picture, for the encoded file, and for the picture decoded from it.
    /// - Throws: `internalError` with the cause.
    package func tryFormat(
        _ format: Recipe.Format, _ bitDepth: Recipe.BitDepth?, _ files: RenderFiles
    ) throws(Failure) {
        guard files.outputs.count == 3 else {
            throw Failure(
                .internalError,
                "a request to try a format came with \(files.outputs.count) outputs; expected are 3."
            )
        }
        let (picture, written, read) = (files.outputs[0], files.outputs[1], files.outputs[2])
        do {
            try TrialPicture.write(to: picture)
            try convert(picture, to: Recipe.Output(format: format, bitDepth: bitDepth), in: written)
            try convert(
                written, to: Recipe.Output(format: .tiff, bitDepth: .eight), in: read)
            try TrialPicture.compare(with: PhotoFile(read).image(failOn: .warning).pixels())
        } catch let failure as Failure {
            throw Failure(.internalError, failure.message)
        } catch {
            throw Failure(.internalError, "\(error)")
        }
    }

    private func convert(
        _ source: OpenFile, to output: Recipe.Output, in target: OpenFile
    ) throws {
        try render(
            PhotoRequest(recipe: Recipe(filters: [], output: output), limits: RenderLimits()),
            RenderFiles(sources: [source], outputs: [target]))
    }
}

/// The picture for the trial: two gradients of light and a plane of blue, which every encoder preserves well.
private enum TrialPicture {
    private static let side = 64
    /// The highest mean difference from the picture, in codes of 255, for a lossy format at the usual quality: at most 3 was
    /// measured.
    private static let differenceMax = 8.0

    private static let codes: [UInt8] = {
        var codes: [UInt8] = []
        for y in 0..<side {
            for x in 0..<side { codes += [UInt8(30 + 3 * x), UInt8(30 + 3 * y), 128] }
        }
        return codes
    }()

    static func write(to file: OpenFile) throws {
        let image = try Image.fromPixels(codes, width: side, height: side, bands: 3)
        try image.encode(
            by: TIFFEncoder(
                EncodedShape(image), TIFFMetadata(profile: nil, xmp: nil), level: nil, to: file))
    }

    /// - Throws: `internalError` if the picture differs.
    static func compare(with found: [UInt8]) throws(Failure) {
        guard found.count == codes.count else {
            throw Failure(
                .internalError,
                "what was read back has \(found.count) bytes of pixels; expected are \(codes.count)."
            )
        }
        let sum = zip(codes, found).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
        let mean = Double(sum) / Double(codes.count)
        guard mean <= differenceMax else {
            throw Failure(
                .internalError,
                "what was read back differs by \(Int(mean.rounded(.up))) codes of 255 in the mean; expected are "
                    + "at most \(Int(differenceMax)).")
        }
    }
}
