import Codecs
import Edits
import Glibc
import PhotoFiles
import RenderProtocol

extension Failure {
    /// Classifies an error of libvips while a photo was read, computed and written, by its message.
    ///
    /// libvips has no error codes, only messages. The tests reach each branch with real files, so a changed message of another
    /// version fails a test.
    ///
    /// - Parameter format: the photo's format, if known: a message of another format's library is not about the photo.
    init(classifying error: VipsError, photo: String, format: PhotoFormat? = nil) {
        self.init(
            Self.code(operation: error.operation, text: error.text, format: format),
            rendering: photo, "\(error)")
    }

    init(_ code: FailureCode, rendering photo: String, _ message: String) {
        let sentence =
            switch code {
            case .damagedPhoto:
                "\(photo) cannot be decoded whole; it is damaged or cut off. Upload it again."
            case .unsupportedFormat:
                "\(photo) is of a kind that this version's decoders cannot open. Convert it, to JPEG or "
                    + "PNG say; trying again does not help."
            case .noSpace:
                "The disk is full or a quota is reached while rendering \(photo). Free some space."
            case .outOfMemory:
                "There was not enough memory to render \(photo). Give the worker more memory."
            case .ioFailure:
                "Reading or writing failed while rendering \(photo)."
            default:
                "Rendering \(photo) failed by a fault of ours. Report it with these words."
            }
        self.init(code, "\(sentence) (\(message))")
    }

    /// Creates the failure for any error that reading a photo's pixels throws.
    init(reading error: any Error, photo: String) {
        switch error {
        case let failure as Failure: self = failure
        case let error as VipsError: self.init(classifying: error, photo: photo)
        default: self.init(.internalError, "Reading \(photo) failed: \(error)")
        }
    }

    /// Returns the code for a message of libvips. It is a pure function, so each line can be tested.
    static func code(
        operation: String, text: String, format: PhotoFormat? = nil
    ) -> FailureCode {
        let lowercase = text.lowercased()
        func mentions(_ phrases: String...) -> Bool { phrases.contains { lowercase.contains($0) } }
        if mentions("no space left", "disk quota", "disc quota", "file too large") {
            return .noSpace
        }
        // This check comes first: libheif also reports a memory error for allocations that it refuses.
        if newerThanLibheif.contains(where: lowercase.contains) { return .unsupportedFormat }
        if mentions(
            "out of memory", "cannot allocate", "insufficient memory", "memory allocation",
            "unable to malloc", "unable to calloc")
        {
            return .outOfMemory
        }
        if mentions("unix error", "input/output error", "permission denied", "read-only file") {
            return .ioFailure
        }
        if mentions("operation has no argument", "not found", "is blocked", "out of order read") {
            return .internalError
        }
        if mentions("not supported", "unsupported", "not configured", "not implemented") {
            return .unsupportedFormat
        }
        if mentions("encoder") || heifWriting.contains(where: lowercase.contains) {
            return .internalError
        }
        // A saver failed to read its pixels without a system error: a decoder failed silently, as libspng does for a wrong
        // checksum.
        if mentions("unable to write to target", VipsError.noReason.lowercased()) {
            return .damagedPhoto
        }
        let namesDecoder = decoders.contains { name, formats in
            lowercase.contains(name) && (format.map(formats.contains) ?? true)
        }
        return operation.hasSuffix("load") || namesDecoder ? .damagedPhoto : .internalError
    }

    /// The names by which decoders identify themselves in messages, also when a saver requested the pixels, and the formats that
    /// they decode. A saver has the same name as its decoder.
    private static let decoders: [(name: String, formats: Set<PhotoFormat>)] = [
        ("vipsjpeg", [.jpeg, .raw]), ("jpegload", [.jpeg, .raw]), ("jxlload", [.jxl]),
        ("pngload", [.png]), ("libspng", [.png]), ("vipspng", [.png]), ("heif", [.heif]),
        ("webp", [.webp]), ("gif", [.gif]),
        // libtiff, by libvips' name for its input (tiff.c), and by its function names: LZWDecode, ZIPDecode, PackBitsDecode.
        ("tiff", [.tiff, .raw]), ("source input", [.tiff]), ("decode:", [.tiff, .raw]),
        // lcms, about the photo's profile: our own profiles are valid.
        ("vipsicc", Set(PhotoFormat.allCases)),
        ("compatible input profile", Set(PhotoFormat.allCases)),
        ("premature end", Set(PhotoFormat.allCases)), ("corrupt", Set(PhotoFormat.allCases)),
        ("bad seek", Set(PhotoFormat.allCases)), ("read error", Set(PhotoFormat.allCases)),
    ]

    /// libheif's error kinds that only occur while writing: usage, encoder, encoding (`heif_error_code` 5, 8, 9).
    private static let heifWriting = [" (5.", " (8.", " (9."]

    /// Messages of libheif 1.15 about valid files of newer cameras: photos of an iPhone 15 or later with iOS 18
    /// (strukturag/libheif#1190, libvips/libvips#4169), and pictures beyond its limits.
    private static let newerThanLibheif = [
        "metadata not correctly assigned to image", "too many auxiliary image references",
        "security limit", "exceeds the maximum image size",
    ]

    init(_ error: JPEGError, photo: String) {
        let code: FailureCode =
            switch error.kind {
            case .damaged: .damagedPhoto
            case .unsupported, .overLimit: .unsupportedFormat
            case .outOfMemory: .outOfMemory
            case .notWritten(ENOSPC), .notWritten(EDQUOT), .notWritten(EFBIG): .noSpace
            case .notRead, .notWritten: .ioFailure
            case .misused, .notStored: .internalError
            }
        self.init(code, rendering: photo, "\(error)")
    }
}
