import Codecs
import Edits
import RenderProtocol

/// Small copies of a photo in memory: the photo is decoded once, and each copy but the largest is made from the next larger one.
struct SmallCopies {
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

/// The decode of a full picture in planes, which also yields the pixels of the small pictures of the same request.
///
/// The other lanes decode once more for the small pictures, because libvips asks a picture for its pixels and does not deliver
/// them to two readers. Measurements are in MEASURED.md beside ``PlanesLane``.
struct SharedDecode {
    /// The index of the full picture, which is written before the small ones.
    let full: Int
    /// The copy that is filled while the full picture is written.
    let copy: PlaneCopy

    /// The most bytes of the copy, which exists while the full picture is rendered.
    private static let bytesMax = 24 << 20

    /// Plans the copy; nil if no small picture is requested, or if none of these pictures is edited in planes that can yield it.
    ///
    /// - Parameter memoryMax: bytes that the full picture and the copy may need together, or nil for no bound.
    init?(of photos: [Photo], memoryMax: Int?) {
        guard let size = SmallCopies.sizes(of: photos).first,
            let full = photos.firstIndex(where: { $0.copySize == nil && $0.plan.lane == .planes }),
            let turn = Planner.turn(of: photos[full].planned.passes),
            let copy = photos[full].opened.planes?.copy(atLeast: size, turned: turn),
            copy.bytes <= Self.bytesMax,
            photos[full].plan.estimate.memoryBytes + copy.bytes <= memoryMax ?? .max
        else { return nil }
        (self.full, self.copy) = (full, copy)
    }
}
