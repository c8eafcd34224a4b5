import Adjustments
import Glibc

/// Puts EXIF and XMP around a JPEG XL codestream, which libvips 8.14 writes bare.
///
/// Source: ISO/IEC 18181-2 §9: the signature box, `ftyp`, `Exif` (with the offset of its TIFF header
/// before it), `xml ` and `jxlc`, whose length 0 means "to the end of the file".
enum JXLContainer {
    private static let signature: [UInt8] =
        [0, 0, 0, 12] + Array("JXL ".utf8) + [13, 10, 0x87, 10]
    private static let type: [UInt8] =
        [0, 0, 0, 20] + Array("ftypjxl ".utf8) + [0, 0, 0, 0] + Array("jxl ".utf8)
    private static let codestreamMark: [UInt8] = [0xFF, 0x0A]
    private static let chunkBytes = 1 << 20

    /// The bytes that stand before the codestream.
    static func head(exif: [UInt8]?, xmp: [UInt8]?) -> [UInt8] {
        var bytes = signature + type
        if let exif { bytes += box("Exif", [0, 0, 0, 0] + exif) }
        if let xmp { bytes += box("xml ", xmp) }
        return bytes + [0, 0, 0, 0] + Array("jxlc".utf8)
    }

    private static func box(_ name: String, _ content: [UInt8]) -> [UInt8] {
        let length = UInt32(content.count + 8)
        return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> $0) }
            + Array(name.utf8) + content
    }

    /// Wraps the codestream in a file; the file is replaced whole.
    ///
    /// - Throws: `ioFailure`, `noSpace`, or `internalError` when the file is no bare codestream.
    static func wrap(_ path: String, exif: [UInt8]?, xmp: [UInt8]?) throws(Failure) {
        let wrapped = path + ".boxes"
        let source = open(path, O_RDONLY | O_CLOEXEC)
        guard source >= 0 else { throw failure(path) }
        defer { close(source) }
        let target = open(wrapped, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard target >= 0 else { throw failure(wrapped) }
        defer { close(target) }
        var buffer = head(exif: exif, xmp: xmp)
        try write(buffer, to: target, wrapped)
        buffer = [UInt8](repeating: 0, count: chunkBytes)
        var isFirst = true
        while true {
            let count = read(source, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure(path) }
            if isFirst, !buffer[..<count].starts(with: codestreamMark) {
                throw Failure(.internalError, "\(path) is no bare codestream of JPEG XL.")
            }
            if count == 0 { break }
            isFirst = false
            try write(Array(buffer[..<count]), to: target, wrapped)
        }
        guard rename(wrapped, path) == 0 else { throw failure(path) }
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32, _ path: String)
        throws(Failure)
    {
        var start = 0
        while start < bytes.count {
            let count = bytes[start...].withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure(path) }
            start += count
        }
    }

    private static func failure(_ path: String) -> Failure {
        let code: FailureCode = errno == ENOSPC || errno == EDQUOT ? .noSpace : .ioFailure
        return Failure(code, "\(path) cannot be written: \(String(cString: strerror(errno))).")
    }
}
