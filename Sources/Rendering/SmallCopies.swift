import Adjustments
import RenderProtocol
import Vips

/// Small copies of a photo in memory: the largest is decoded, once, and each other copy is made from the next larger one.
struct SmallCopies {
    /// The copies, the largest first.
    private var copies: [(size: PixelSize, image: Image)]

    /// Decodes the largest copy that some pictures need and that may stay in memory.
    ///
    /// - Returns: nil if fewer than two pictures need one: a single copy is decoded while its picture is written.
    /// - Throws: failures of reading the photo's pixels.
    init?(of photos: [Photo]) throws(Failure) {
        let sizes = Self.sizes(of: photos)
        guard let size = sizes.first else { return nil }
        let file = photos[0].file
        let largest: Image
        do {
            do {
                largest = try file.image(failOn: .warning, copySize: size).inMemory()
            } catch let error as VipsError where Failure.isHarmless(error) {
                largest = try file.image(failOn: .truncated, copySize: size).inMemory()
            }
            copies = [(size, largest)]
            for size in sizes.dropFirst() {
                let larger = copies[copies.count - 1].image
                let image = try larger.resized(width: size.width, height: size.height).inMemory()
                copies.append((size, image))
            }
        } catch {
            throw Failure(reading: error, photo: file.name)
        }
    }

    /// Returns the copy of this size; nil if it does not exist.
    func image(_ wanted: PixelSize?) -> Image? { copies.first { $0.size == wanted }?.image }

    /// Returns the bytes that the copies for these pictures take while they are made.
    static func bytes(for photos: [Photo]) -> Int {
        sizes(of: photos).reduce(0) { $0 + bytes($1, of: photos[0].opened.header) }
    }

    /// Returns the distinct sizes of copies that may stay in memory, the largest first; empty if fewer than two pictures need one.
    private static func sizes(of photos: [Photo]) -> [PixelSize] {
        let needed = photos.compactMap(\.copySize).filter {
            bytes($0, of: photos[0].opened.header) <= Photo.memorySpoolBytesMax
        }
        guard needed.count > 1 else { return [] }
        return needed.reduce(into: []) { sizes, size in
            if !sizes.contains(size) { sizes.append(size) }
        }.sorted { $0.pixels > $1.pixels }
    }

    private static func bytes(_ size: PixelSize, of header: PhotoHeader) -> Int {
        size.pixels * header.bands * (header.bitsPerSample / 8)
    }
}
