import Edits
import Files
import Glibc
import Codecs

/// EXIF that overwrites a placeholder text of the same length in a finished file.
///
/// libvips writes EXIF with libexif, which rearranges it and loses MakerNotes. So libvips is given a text to write as the image's
/// description, long enough for the true EXIF, and afterwards the TIFF structure around that text is overwritten. The text is
/// stored verbatim in all formats to which libvips writes EXIF: JPEG, PNG, WebP and AVIF. Only PNG has a checksum that must be
/// updated.
struct ExifPlaceholder {
    private let exif: [UInt8]
    private let mark: [UInt8]

    /// The most bytes of EXIF: a segment of a JPEG has 65,533 bytes, and libexif needs some around the text.
    static let bytesMax = 65_000

    /// Creates a placeholder for EXIF, a TIFF structure; nil if it is too long.
    init?(for exif: [UInt8]) {
        guard exif.count <= Self.bytesMax else { return nil }
        self.exif = exif
        // Random, so that it occurs in no photo. Its length is constant, because the file's length depends on it.
        let random = (0..<32).map { _ in Character(String(Int.random(in: 0..<16), radix: 16)) }
        mark = Array("minilab-\(String(random))".utf8)
    }

    /// EXIF without an entry: libvips adds tags to a PNG only if there is some EXIF.
    private static let empty: [UInt8] =
        Array("Exif\0\0II*\0".utf8) + [8, 0, 0, 0, 0, 0, 0, 0, 0, 0]

    /// The changes of a header that make a saver write the text.
    var changes: [Image.MetadataChange] {
        let padding = String(repeating: "x", count: max(0, exif.count - mark.count))
        // libvips drops the text after the last bracket, where it stores the type of a tag.
        let text = String(decoding: mark, as: UTF8.self) + padding + " ()"
        return [.setData("exif-data", Self.empty), .setString("exif-ifd0-ImageDescription", text)]
    }

    /// Overwrites the text with the EXIF.
    ///
    /// - Throws: `ioFailure`, or `internalError` if the text is not found.
    func fill(_ file: OpenFile) throws(Failure) {
        let length = try file.length()
        guard
            let map = mmap(nil, length, PROT_READ | PROT_WRITE, MAP_SHARED, file.descriptor, 0),
            map != MAP_FAILED
        else {
            throw Failure(
                .ioFailure, "\(file.name) cannot be written: \(String(cString: strerror(errno))).")
        }
        defer { munmap(map, length) }
        guard let end = fill(UnsafeMutableRawBufferPointer(start: map, count: length)) else {
            throw Failure(
                .internalError,
                "\(file.name) was written without room for its EXIF. Report it with the photo.")
        }
        if end != length { try file.cut(to: end) }
    }

    /// - Returns: the new length of the file, or nil if there was no room.
    private func fill(_ file: UnsafeMutableRawBufferPointer) -> Int? {
        guard let text = offset(of: mark, in: file),
            var start = Self.tiffStart(file, before: text)
        else { return nil }
        // The chunk of a WebP begins directly with the TIFF structure (RFC 9649 §2.7.1.5).
        if file.starts(with: Array("RIFF".utf8)), start >= 6,
            file[start - 6..<start].elementsEqual(Array("Exif\0\0".utf8))
        {
            start -= 6
        }
        let end = min(text + max(mark.count, exif.count), file.count)
        guard exif.count <= end - start else { return nil }
        let room = UnsafeMutableRawBufferPointer(rebasing: file[start..<end])
        room.copyBytes(from: exif + [UInt8](repeating: 0, count: room.count - exif.count))
        guard file.starts(with: [0x89, 0x50, 0x4E, 0x47]) else { return file.count }
        renewChecksum(file, chunkData: start)
        return removeRepeatedChunk(file)
    }

    /// Removes the second EXIF chunk, after the pixels, that libvips 8.14 writes to a PNG; only one is allowed (PNG third edition
    /// §5.6).
    private func removeRepeatedChunk(_ file: UnsafeMutableRawBufferPointer) -> Int {
        guard let base = file.baseAddress,
            let text = offset(of: mark, in: file),
            let start = Self.tiffStart(file, before: text), start >= 8
        else { return file.count }
        let (chunk, next) = (start - 8, start + chunkLength(file, chunkData: start) + 4)
        guard next <= file.count else { return file.count }
        memmove(base + chunk, base + next, file.count - next)
        return file.count - (next - chunk)
    }

    /// Bytes of the file that are searched before their pages are released. The file is mapped, and all of it would count as the
    /// process's memory: a PNG of 24 megapixels has 30 to 150 MB.
    private static let stepBytes = 4 << 20

    /// Returns the offset of the mark in the mapped file, or nil.
    private func offset(of mark: [UInt8], in file: UnsafeMutableRawBufferPointer) -> Int? {
        guard let base = file.baseAddress else { return nil }
        for step in Swift.stride(from: 0, to: file.count, by: Self.stepBytes) {
            // The mark may cross the end of a step.
            let end = min(step + Self.stepBytes + mark.count - 1, file.count)
            var start = step
            while start + mark.count <= end,
                let next = memchr(base + start, Int32(mark[0]), end - mark.count - start + 1)
            {
                start = next - base
                if memcmp(next, mark, mark.count) == 0 { return start }
                start += 1
            }
            // The kernel may ignore this advice; dirty pages stay in its cache.
            madvise(base + step, min(Self.stepBytes, file.count - step), MADV_DONTNEED)
        }
        return nil
    }

    /// Returns the offset of the TIFF structure around the text, some hundred bytes before it.
    private static func tiffStart(_ file: UnsafeMutableRawBufferPointer, before text: Int) -> Int? {
        stride(from: text - 8, through: max(0, text - 1_024), by: -1).first { offset in
            Array(file[offset..<offset + 4]) == [0x49, 0x49, 42, 0]
        }
    }

    private func chunkLength(_ file: UnsafeMutableRawBufferPointer, chunkData start: Int) -> Int {
        file[start - 8..<start - 4].reduce(0) { $0 << 8 | Int($1) }
    }

    /// Updates the CRC of a PNG's chunk, which covers its name and data (PNG third edition §5.3).
    private func renewChecksum(_ file: UnsafeMutableRawBufferPointer, chunkData start: Int) {
        guard start >= 8 else { return }
        let end = start + chunkLength(file, chunkData: start)
        guard end + 4 <= file.count else { return }
        let crc = PNGChecksum.crc32(file[start - 4..<end])
        for index in 0..<4 {
            file[end + index] = UInt8(truncatingIfNeeded: crc >> (24 - 8 * index))
        }
    }
}

/// CRC-32 as PNG uses it (ISO 3309; PNG third edition, annex D).
enum PNGChecksum {
    private static let table: [UInt32] = (0..<256).map { entry in
        (0..<8).reduce(UInt32(entry)) { crc, _ in
            crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1
        }
    }

    static func crc32(_ bytes: some Sequence<UInt8>) -> UInt32 {
        ~bytes.reduce(~UInt32(0)) { table[Int(($0 ^ UInt32($1)) & 255)] ^ $0 >> 8 }
    }
}
