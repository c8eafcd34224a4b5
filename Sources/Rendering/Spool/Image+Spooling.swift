import Edits
import Codecs

/// The storage for pixels that are needed in any order.
struct SpoolStorage: Sendable {
    /// The spool space; nil if everything stays in memory.
    let space: SpoolSpace?
    /// Pixels of up to this many bytes stay in memory; more go to a file.
    var memoryBytesMax = Photo.memorySpoolBytesMax

    /// No spool: for pictures that are certainly small.
    static let none = SpoolStorage(space: nil, memoryBytesMax: .max)

    /// Returns the spool space.
    ///
    /// - Throws: `internalError` if the request had none.
    func file() throws(Failure) -> SpoolSpace {
        guard let space else {
            throw Failure(
                .internalError, "a render needs a spool, and its request came without one.")
        }
        return space
    }
}

extension Image {
    /// Computes the picture at once, in memory or in a file, so that any pixel can be read at any time.
    ///
    /// - Throws: `VipsError` or `Failure`.
    func inAnyOrder(for reader: TileLayout.Reader, _ storage: SpoolStorage) throws -> Image {
        // Several threads might request rows that a streaming decoder has just passed.
        let rows = VipsLibrary.threads > 1 ? try readInSteps() : self
        return byteCount <= storage.memoryBytesMax
            ? try rows.inMemory() : try rows.spooled(for: reader, in: storage.file())
    }

    /// Computes the picture at once, into a part of the spool file that is released with the picture.
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
