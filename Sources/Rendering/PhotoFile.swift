import Adjustments
import FoundationEssentials
import Glibc
import Headers
import JPEG
import Metadata
import RenderProtocol

/// A photo on disk whose content we have recognised, and which is within limits as far as its header says.
struct PhotoFile {
    /// Absolute path.
    let path: String
    /// What the content is.
    let format: PhotoFormat
    private let limits: RenderLimits

    /// Looks at the first bytes of a file, and through what comes before its pixels.
    ///
    /// - Parameter limits: what is refused; nil for a file of our own making.
    /// - Throws: `missingAsset`, `emptyFile`, `unsupportedFormat`, `unsupportedMediaType` (a video),
    ///   `tooManyPixels`, `exceedsLimit`, or `ioFailure`.
    init(at path: String, limits: RenderLimits? = RenderLimits()) throws(Failure) {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.failure(errno, path) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw Self.failure(errno, path) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw Failure(
                .unsupportedFormat, "\(path) is not a file. Give the path of a photo's file.")
        }
        guard status.st_size > 0 else {
            throw Failure(
                .emptyFile, "\(path) has no bytes. Upload the photo again.")
        }
        var head = [UInt8](repeating: 0, count: PhotoFormat.sniffedBytes)
        let count = read(descriptor, &head, head.count)
        guard count >= 0 else { throw Self.failure(errno, path) }
        head.removeLast(head.count - count)
        let format = PhotoFormat(sniffing: head) {
            TIFFBytes.FirstDirectory { Self.bytes(of: descriptor, from: $0, count: $1) }
        }
        guard let format else {
            if let video = VideoContainer(sniffing: head) {
                throw Failure(
                    .unsupportedMediaType,
                    "\(path) is a video (\(video.rawValue)), and only photos are edited here. Send photos, "
                        + "or edit the video elsewhere.")
            }
            let start = head.prefix(8).map { byte in
                (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }.joined(separator: " ")
            throw Failure(
                .unsupportedFormat,
                "\(path) is not a photo that we read: its content begins with \(start). Readable "
                    + "are " + PhotoFormat.allCases.map(\.rawValue).joined(separator: ", ")
                    + ", whatever the file is called.")
        }
        self.path = path
        self.format = format
        self.limits = limits ?? RenderLimits()
        guard let limits else { return }
        try PhotoSurvey(
            format,
            HeaderBytes(length: Int(status.st_size)) {
                Self.bytes(of: descriptor, from: $0, count: $1)
            }, limits: limits
        ).check(path)
    }

    /// What libjpeg-turbo may be asked for.
    ///
    /// - Parameter coefficientBytesMax: most bytes of coefficients that are kept in memory.
    func jpegLimits(coefficientBytesMax: Int) -> JPEGLimits {
        JPEGLimits(
            scansMax: limits.scansMax,
            markerBytesMax: limits.metadataMax + limits.profileMax,
            coefficientBytesMax: coefficientBytesMax)
    }

    private static func failure(_ number: Int32, _ path: String) -> Failure {
        let reason = String(cString: strerror(number))
        return number == ENOENT || number == ENOTDIR
            ? Failure(.missingAsset, "There is no file at \(path). Check the asset's path.")
            : Failure(.ioFailure, "\(path) cannot be read: \(reason).")
    }

    /// The first bytes of the file; none when it cannot be read any more, which shows when its pixels are
    /// read.
    func head(of count: Int) -> [UInt8] {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        return Self.bytes(of: descriptor, from: 0, count: count)
    }

    /// EXIF that stands in directories of the file itself, as in TIFF and most RAW; nil when there is none.
    func exifOfDirectories() -> [UInt8]? {
        guard format == .tiff || format == .raw else { return nil }
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        // A file that cannot be read any more shows when its pixels are read.
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return ExifDirectories { Self.bytes(of: descriptor, from: $0, count: $1) }?.standalone()
    }

    /// The first directory of a TIFF, or nil.
    func firstDirectory() -> TIFFBytes.FirstDirectory? {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        // A file that cannot be read any more shows when its pixels are read.
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return TIFFBytes.FirstDirectory { Self.bytes(of: descriptor, from: $0, count: $1) }
    }

    /// Up to so many bytes; none after an error, which then shows when the decoder reads.
    private static func bytes(of descriptor: Int32, from offset: Int, count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let read = pread(descriptor, &bytes, count, offset)
        return Array(bytes.prefix(max(0, read)))
    }
}
