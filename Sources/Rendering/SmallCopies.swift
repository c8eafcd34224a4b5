import Adjustments
import RenderProtocol
import Vips

/// A small copy of a photo in memory, decoded once, from which all smaller ones are made.
struct SmallCopies {
    private let copy: Image
    private let size: PixelSize

    /// Decodes the largest copy that some pictures need and that may stay in memory.
    ///
    /// - Returns: nil when fewer than two need one: a single one is as well decoded when it is written.
    /// - Throws: what reading the photo's pixels fails with.
    init?(of photos: [Photo]) throws(Failure) {
        let sizes = photos.compactMap(\.copySize).filter {
            Self.bytes($0, photos[0].header.bands, photos[0].header.bitsPerSample)
                <= Photo.memorySpoolBytesMax
        }
        guard sizes.count > 1, let size = sizes.max(by: { $0.pixels < $1.pixels }) else {
            return nil
        }
        self.size = size
        let file = photos[0].file
        do {
            do {
                copy = try file.image(failOn: .warning, copySize: size).inMemory()
            } catch let error as VipsError where Failure.isHarmless(error) {
                copy = try file.image(failOn: .truncated, copySize: size).inMemory()
            }
        } catch {
            throw Failure(reading: error, photo: file.name)
        }
    }

    /// The copy of this size; nil when it is larger than what is there.
    func image(_ wanted: PixelSize?) throws(VipsError) -> Image? {
        guard let wanted, wanted.width <= size.width, wanted.height <= size.height else {
            return nil
        }
        return try copy.resized(width: wanted.width, height: wanted.height)
    }

    /// Bytes that the copy for these pictures takes while they are made.
    static func bytes(for photos: [Photo]) -> Int {
        let sizes = photos.compactMap { photo in
            photo.copySize.map {
                bytes($0, photo.header.bands, photo.header.bitsPerSample)
            }
        }
        return sizes.count > 1 ? sizes.filter { $0 <= Photo.memorySpoolBytesMax }.max() ?? 0 : 0
    }

    private static func bytes(_ size: PixelSize, _ bands: Int, _ bits: Int) -> Int {
        size.pixels * bands * (bits / 8)
    }
}
