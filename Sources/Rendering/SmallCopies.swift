import Edits
import RenderProtocol
import Codecs

/// Small copies of a photo in memory: the photo is decoded once, and each copy but the largest is made from the next larger one.
struct SmallCopies {
    /// The copies, the largest first.
    private var copies: [(size: PixelSize, image: Image)] = []

    /// Decodes the largest copy that some pictures need and that may stay in memory.
    ///
    /// - Returns: nil if fewer than two pictures need one: a single copy is decoded while its picture is written.
    /// - Throws: failures of reading the photo's pixels.
    init?(of photos: [Photo]) throws(Failure) {
        let sizes = Self.sizes(of: photos)
        guard sizes.count > 0, Self.needed(for: photos).count > 1 else { return nil }
        let file = photos[0].file
        do {
            let largest = try file.image(failOn: .warning, copySize: sizes[0]).inMemory()
            copies = [(sizes[0], largest)]
            try append(sizes.dropFirst(), from: largest)
        } catch {
            throw Failure(reading: error, photo: file.name)
        }
    }

    /// Makes the copies from pixels that were decoded for the full picture.
    init(of photos: [Photo], from decoded: SharedDecode) throws(Failure) {
        let file = photos[0].file
        do {
            let image = try decoded.copy.image().image
                .withMetadata(of: file.image(failOn: .truncated))
            try append(Self.sizes(of: photos)[...], from: image)
        } catch {
            throw Failure(reading: error, photo: file.name)
        }
    }

    private mutating func append(_ sizes: ArraySlice<PixelSize>, from largest: Image) throws {
        var larger = largest
        for size in sizes {
            larger = try larger.resized(width: size.width, height: size.height).inMemory()
            copies.append((size, larger))
        }
    }

    /// Returns the copy of this size; nil if it does not exist.
    func image(_ wanted: PixelSize?) -> Image? { copies.first { $0.size == wanted }?.image }

    /// Returns the bytes that the copies for these pictures take while they are made.
    static func bytes(for photos: [Photo]) -> Int {
        guard needed(for: photos).count > 1 else { return 0 }
        return sizes(of: photos).reduce(0) { $0 + bytes($1, of: photos[0].opened.header) }
    }

    /// Returns the distinct sizes of the copies that these pictures need, the largest first.
    static func sizes(of photos: [Photo]) -> [PixelSize] {
        needed(for: photos).reduce(into: []) { sizes, size in
            if !sizes.contains(size) { sizes.append(size) }
        }.sorted { $0.pixels > $1.pixels }
    }

    /// Returns the size of the copy of each picture that is made from one which may stay in memory.
    private static func needed(for photos: [Photo]) -> [PixelSize] {
        photos.compactMap(\.copySize).filter {
            bytes($0, of: photos[0].opened.header) <= Photo.memorySpoolBytesMax
        }
    }

    private static func bytes(_ size: PixelSize, of header: PhotoHeader) -> Int {
        size.pixels * header.bands * (header.bitsPerSample / 8)
    }
}
