/// The blocks of data that Samsung's phones write after a JPEG, or in the box `sefd` of a HEIC; for a motion photo, the video.
///
/// From the end: `SEFT`, preceded by the length of a directory. The directory is `SEFH`, a version, the number of blocks, and for
/// each block its type, its distance before the directory, and its length. A block has its type, the length of its name, the name,
/// and the data. Numbers are little-endian. Source: ExifTool's description of the trailer, compared with files.
struct SamsungTrailer {
    /// The byte ranges of the blocks' data, by name.
    private(set) var blocks: [String: Range<Int>] = [:]

    /// Most blocks that are read; phones write 2 to 12.
    private static let blocksMax = 64
    /// Most bytes of a name.
    private static let nameMax = 64
    private static let entryBytes = 12

    /// Reads a trailer that ends at an offset; nil if there is none.
    init?(endingAt end: Int, _ file: inout FileWindow) {
        guard end >= 20, file.has("SEFT", at: end - 4), let length = file.little(end - 8, 4),
            length >= 12, length <= end - 8
        else { return nil }
        let directory = end - 8 - length
        guard file.has("SEFH", at: directory), let count = file.little(directory + 8, 4) else {
            return nil
        }
        for index in 0..<min(count, Self.blocksMax, (length - 12) / Self.entryBytes) {
            let entry = directory + 12 + Self.entryBytes * index
            guard let distance = file.little(entry + 4, 4), let size = file.little(entry + 8, 4),
                distance <= directory, size <= distance
            else { continue }
            let block = directory - distance
            guard let nameLength = file.little(block + 4, 4), nameLength <= Self.nameMax,
                8 + nameLength <= size
            else { continue }
            let name = String(decoding: file.all(block + 8..<block + 8 + nameLength), as: UTF8.self)
            blocks[name] = block + 8 + nameLength..<block + size
        }
    }

    /// The data of a motion photo's video; nil without one.
    var motionVideo: Range<Int>? { blocks["MotionPhoto_Data"] }
}
