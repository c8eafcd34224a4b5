import Adjustments
import FoundationEssentials
import Glibc
import RenderProtocol
import Vips

/// A photo on disk whose content we have recognised.
struct PhotoFile {
    /// Absolute path.
    let path: String
    /// What the content is.
    let format: PhotoFormat

    /// Looks at the first bytes of a file.
    ///
    /// - Throws: `missingAsset`, `emptyFile`, `unsupportedFormat`, or `ioFailure`.
    init(at path: String) throws(Failure) {
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
        guard let format = PhotoFormat(sniffing: head) else {
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
    }

    private static func failure(_ number: Int32, _ path: String) -> Failure {
        let reason = String(cString: strerror(number))
        return number == ENOENT || number == ENOTDIR
            ? Failure(.missingAsset, "There is no file at \(path). Check the asset's path.")
            : Failure(.ioFailure, "\(path) cannot be read: \(reason).")
    }

    /// Opens it for one pass from top to bottom; no pixel is read yet.
    func open(failOn: Image.FailOn) throws(Failure) -> Image {
        do {
            return try Image.open(path, loader: format.loader, streaming: true, failOn: failOn)
        } catch {
            throw Failure(classifying: error, photo: path)
        }
    }

    /// The header of its picture.
    func header(of image: Image) -> PhotoHeader {
        // libheif applies irot and imir itself, and EXIF must not turn the picture again
        // (ISO/IEC 23008-12 §6.5.10: the transformative properties are the ones that count).
        let tag = format == .heif ? 1 : image.int("orientation") ?? 1
        return PhotoHeader(
            format: format.rawValue,
            storedSize: PixelSize(width: image.width, height: image.height),
            orientation: (1...8).contains(tag) ? tag : 1,
            bands: image.bands,
            bitsPerSample: image.format == .uchar ? 8 : 16,
            hasAlpha: image.hasAlpha,
            hasProfile: image.data("icc-profile-data") != nil)
    }
}
