import Adjustments
import Boxes
import Files

/// A HEIC as it is written: room for its head, pictures as they are coded, and at the end the head.
///
/// Items are added first, since they decide how long the head is: ``boxes`` may be changed until ``begin()``.
final class HEICFile {
    /// The items, and what is said of them.
    var boxes: HEIFFile
    private var file: AppendedFile
    private var places: [Int: Range<Int>] = [:]

    init(_ file: OpenFile) {
        boxes = HEIFFile(brands: [])
        self.file = AppendedFile(file)
    }

    /// Leaves room for the head.
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
        places[item] = file.length..<file.length + bytes.count
        try file.append(bytes)
    }

    /// Writes the head.
    ///
    /// - Throws: `tooManyPixels` for more than a HEIF's numbers can say, `noSpace`, `ioFailure`.
    func finish() throws(Failure) {
        let head: [UInt8]
        do throws(HEIFTooLarge) {
            head = try boxes.head(placing: places, length: file.length)
        } catch {
            throw Failure(
                .tooManyPixels, "The photo becomes \(error). Ask for jpeg as edit.output.format.")
        }
        try file.file.write(head, at: 0)
    }
}
