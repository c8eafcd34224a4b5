import Adjustments
import Glibc
import Metadata

/// Appends EXIF and IPTC to a TIFF file, to which libvips writes neither as it should.
enum TIFFMetadataFile {
    /// Appends them; the new directory counts once its offset is in the header.
    ///
    /// - Throws: `ioFailure` or `noSpace`.
    static func append(exif: [UInt8]?, iptc: [UInt8]?, to path: String) throws(Failure) {
        let descriptor = open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(path) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure(path) }
        let length = Int(status.st_size)
        let graft = TIFFGraft(exif: exif, iptc: iptc, length: length) { offset, count in
            var bytes = [UInt8](repeating: 0, count: count)
            let read = pread(descriptor, &bytes, count, offset)
            return Array(bytes.prefix(max(0, read)))
        }
        guard let graft else { return }
        for (bytes, place) in [(graft.bytes, length), (graft.link, 4)] {
            // A regular file takes all bytes of a write or says why not.
            guard pwrite(descriptor, bytes, bytes.count, place) == bytes.count else {
                throw failure(path)
            }
        }
    }

    private static func failure(_ path: String) -> Failure {
        let code: FailureCode = errno == ENOSPC || errno == EDQUOT ? .noSpace : .ioFailure
        return Failure(code, "\(path) cannot be written: \(String(cString: strerror(errno))).")
    }
}
