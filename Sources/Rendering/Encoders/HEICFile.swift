import Edits
import PhotoFiles
import Files

/// A HEIC while it is written: reserved space for its head, then coded pictures as they arrive, and finally the head.
///
/// Items are added first, because they determine the head's length. ``boxes`` may be changed until ``begin()``.
final class HEICFile {
    /// The items and their properties.
    var boxes: HEIFFile
    private var file: AppendedFile
    private var mediaRanges: [Int: Range<Int>] = [:]

    init(_ file: OpenFile) {
        boxes = HEIFFile(brands: [])
        self.file = AppendedFile(file)
    }

    /// Reserves space for the head.
    ///
    /// - Throws: `ioFailure`.
    func begin() throws(Failure) {
        try file.file.cut(to: 0)
        file = AppendedFile(file.file, from: boxes.headLength)
    }

    /// Writes the bytes of an item.
    ///
    /// - Throws: `noSpace`, `ioFailure`.
    func append(_ bytes: [UInt8], of item: Int) throws(Failure) {
        mediaRanges[item] = file.length..<file.length + bytes.count
        try file.append(bytes)
    }

    /// Writes the head.
    ///
    /// - Throws: `tooManyPixels` for a picture beyond a HEIF's number ranges, `noSpace`, `ioFailure`.
    func finish() throws(Failure) {
        let head: [UInt8]
        do throws(HEIFTooLarge) {
            head = try boxes.head(mediaRanges: mediaRanges, length: file.length)
        } catch {
            throw Failure(
                .tooManyPixels, "The photo becomes \(error). Ask for jpeg as edit.output.format.")
        }
        try file.file.write(head, at: 0)
    }
}
