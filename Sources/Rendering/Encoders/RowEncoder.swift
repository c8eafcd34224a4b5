import Codecs
import Edits
import Files
import PhotoFiles

/// Writes a picture to a file row by row, from top to bottom.
protocol RowEncoder: AnyObject {
    /// Encodes the next row: 8 or 16 bits in the machine's byte order, samples interleaved.
    ///
    /// - Throws: `noSpace`, `ioFailure`.
    func append(_ row: UnsafeRawBufferPointer) throws(Failure)
    /// Writes the rest of the file after the last row.
    ///
    /// - Throws: `noSpace`, `ioFailure`.
    func finish() throws(Failure)
}

/// The shape of a picture that is encoded by rows.
struct EncodedShape {
    let width: Int, height: Int
    /// 3, or 4 with alpha.
    let bands: Int
    /// 8 or 16.
    let bits: Int
    var resolution: (x: Double, y: Double)

    var pixelBytes: Int { bands * bits / 8 }
    var rowBytes: Int { width * pixelBytes }

    init(
        _ size: PixelSize, _ codes: PixelProgram.Layout, resolution: (x: Double, y: Double)
    ) {
        (width, height) = (size.width, size.height)
        (bands, bits) = (codes.bands, codes.sample == .encoded8 ? 8 : 16)
        self.resolution = resolution
    }

    init(_ image: Image) {
        (width, height, bands) = (image.width, image.height, image.bands)
        bits = image.bytesPerPixel / image.bands * 8
        resolution = image.resolution
    }
}

/// A file that is written sequentially.
struct AppendedFile {
    let file: OpenFile
    private(set) var length: Int

    /// - Parameter length: number of leading bytes that are written elsewhere.
    init(_ file: OpenFile, from length: Int = 0) { (self.file, self.length) = (file, length) }

    /// - Throws: `noSpace`, `ioFailure`.
    mutating func append(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
        try file.write(bytes, at: length)
        length += bytes.count
    }

    /// - Throws: `noSpace`, `ioFailure`.
    mutating func append(_ bytes: [UInt8]) throws(Failure) {
        try file.write(bytes, at: length)
        length += bytes.count
    }
}

extension Image {
    /// Computes all rows and passes them to an encoder.
    ///
    /// - Throws: `VipsError`, or the encoder's `Failure`.
    func encode(by encoder: some RowEncoder) throws {
        let rowBytes = width * bytesPerPixel
        try streamRows { rows throws(Failure) in
            for index in 0..<rows.area.height {
                try encoder.append(
                    UnsafeRawBufferPointer(start: rows.row(index), count: rowBytes))
            }
        }
        try encoder.finish()
    }

    /// Computes all rows, from top to bottom, some at a time.
    ///
    /// - Throws: `VipsError`, or the failure of `body`, which ends the computation.
    func streamRows(_ body: (RegionPixels) throws(Failure) -> Void) throws {
        var failure: Failure?
        do {
            try stream { rows in
                do throws(Failure) {
                    try body(rows)
                } catch {
                    failure = error
                }
                return failure == nil
            }
        } catch {
            if let failure { throw failure }
            throw error
        }
    }
}

/// A HEIC while it is written: reserved space for its head, then coded pictures as they arrive, and finally the head.
///
/// Items are added first, because they determine the head's length. ``boxes`` may be changed until ``begin()``.
final class HEICFile {
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
