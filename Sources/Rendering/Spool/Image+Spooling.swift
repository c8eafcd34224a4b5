import Adjustments
import Vips

/// Where pixels go that are needed in any order.
struct SpoolPlace: Sendable {
    /// What they are written to; nil where all stays in memory.
    let space: SpoolSpace?
    /// Pixels up to this many bytes stay in memory; more go to a file.
    var memoryBytesMax = Photo.memorySpoolBytesMax

    /// None: for pictures that are small for sure.
    static let none = SpoolPlace(space: nil, memoryBytesMax: .max)

    /// The file.
    ///
    /// - Throws: `internalError` when the request came without one.
    func file() throws(Failure) -> SpoolSpace {
        guard let space else {
            throw Failure(
                .internalError, "a render needs a spool, and its request came without one.")
        }
        return space
    }
}

extension Image {
    /// Computed now, in memory or in a file, so that any pixel can be read at any time.
    ///
    /// - Throws: `VipsError` or `Failure`.
    func inAnyOrder(for reader: TileLayout.Reader, _ place: SpoolPlace) throws -> Image {
        // Several threads may ask a decoder that streams for rows that it has just passed.
        let rows = VipsLibrary.threads > 1 ? try readInSteps() : self
        return byteCount <= place.memoryBytesMax
            ? try rows.inMemory() : try rows.spooled(for: reader, in: place.file())
    }

    /// Computed now, into a spool file that is gone with the picture.
    ///
    /// - Throws: `VipsError` or `Failure`.
    func spooled(for reader: TileLayout.Reader, in space: SpoolSpace) throws -> Image {
        let layout = TileLayout(
            width: width, height: height, pixelBytes: bytesPerPixel, for: reader)
        let file = try SpoolFile(bytes: TileSpool.bytes(of: layout), in: space)
        let writer = TileSpoolWriter(layout, to: file)
        var failure: Failure?
        do {
            try stream { rows in
                do throws(Failure) {
                    try writer.append(
                        rows.start, stride: rows.stride, count: rows.area.height)
                } catch {
                    failure = error
                }
                return failure == nil
            }
        } catch {
            if let failure { throw failure }
            throw error
        }
        let spool = try writer.finish()
        let picture = RegionPicture(
            width: width, height: height, bands: bands, format: format,
            interpretation: interpretation, shape: reader == .rows ? .rows : .squares)
        return try Image.supplied(picture, like: self) { pixels in
            do throws(Failure) {
                try spool.read(pixels.area, into: pixels.start, stride: pixels.stride)
                return nil
            } catch {
                return error.description
            }
        }
    }
}
