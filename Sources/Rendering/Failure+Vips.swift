import Adjustments
import Headers
import RenderProtocol
import Vips

extension Failure {
    /// What went wrong, by libvips' words, while a photo was read, computed and written.
    ///
    /// libvips has no error codes: the words are all there is. The tests reach each branch with real
    /// files, so that another version's words would be noticed.
    ///
    /// - Parameter format: of the photo, where it is known: the words of another format's library are not about the photo.
    init(classifying error: VipsError, photo: String, format: PhotoFormat? = nil) {
        self.init(
            Self.code(operation: error.operation, text: error.text, format: format),
            rendering: photo, "\(error)")
    }

    /// A failure of a render, with the words of the library that gave up.
    init(_ code: FailureCode, rendering photo: String, _ words: String) {
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
        self.init(code, "\(sentence) (\(words))")
    }

    /// What went wrong, by any error that reading a photo's pixels throws.
    init(reading error: any Error, photo: String) {
        switch error {
        case let failure as Failure: self = failure
        case let error as VipsError: self.init(classifying: error, photo: photo)
        default: self.init(.internalError, "Reading \(photo) failed: \(error)")
        }
    }

    /// The code for libvips' words; pure, so that it can be tested line by line.
    static func code(
        operation: String, text: String, format: PhotoFormat? = nil
    ) -> FailureCode {
        let words = text.lowercased()
        func says(_ phrases: String...) -> Bool { phrases.contains { words.contains($0) } }
        if says("no space left", "disk quota", "disc quota", "file too large") { return .noSpace }
        // First: libheif calls what it does not want to allocate an error of memory, too.
        if newerThanLibheif.contains(where: words.contains) { return .unsupportedFormat }
        if says(
            "out of memory", "cannot allocate", "insufficient memory", "memory allocation",
            "unable to malloc", "unable to calloc")
        {
            return .outOfMemory
        }
        if says("unix error", "input/output error", "permission denied", "read-only file") {
            return .ioFailure
        }
        if says("operation has no argument", "not found", "is blocked", "out of order read") {
            return .internalError
        }
        if says("not supported", "unsupported") { return .unsupportedFormat }
        if says("encoder") || heifWriting.contains(where: words.contains) { return .internalError }
        // A saver that could not get its pixels, and no system error: a decoder failed in silence,
        // as libspng's does for a broken checksum.
        if says("unable to write to target", VipsError.noReason.lowercased()) {
            return .damagedPhoto
        }
        let isOfDecoder = decoders.contains { name, formats in
            words.contains(name) && (format.map(formats.contains) ?? true)
        }
        return operation.hasSuffix("load") || isOfDecoder ? .damagedPhoto : .internalError
    }

    /// The names under which decoders speak, also when a saver asked for the pixels, and the formats that they decode: a
    /// saver has the same name.
    private static let decoders: [(name: String, formats: Set<PhotoFormat>)] = [
        ("vipsjpeg", [.jpeg, .raw]), ("jpegload", [.jpeg, .raw]), ("jxlload", [.jxl]),
        ("pngload", [.png]), ("libspng", [.png]), ("vipspng", [.png]), ("heif", [.heif]),
        ("webp", [.webp]), ("gif", [.gif]),
        // libtiff, by the name that libvips gives to what it reads (tiff.c), and by those of its functions:
        // LZWDecode, ZIPDecode, PackBitsDecode.
        ("tiff", [.tiff, .raw]), ("source input", [.tiff]), ("decode:", [.tiff, .raw]),
        // lcms, of the photo's profile: ours are good.
        ("vipsicc", Set(PhotoFormat.allCases)),
        ("compatible input profile", Set(PhotoFormat.allCases)),
        ("premature end", Set(PhotoFormat.allCases)), ("corrupt", Set(PhotoFormat.allCases)),
        ("bad seek", Set(PhotoFormat.allCases)), ("read error", Set(PhotoFormat.allCases)),
    ]

    /// libheif's kinds of errors that only writing has: wrong use, encoder, encoding (`heif_error_code` 5, 8, 9).
    private static let heifWriting = [" (5.", " (8.", " (9."]

    /// What libheif 1.15 says of good files of newer cameras: photos of an iPhone 15 or later with iOS 18
    /// (strukturag/libheif#1190, libvips/libvips#4169), and pictures larger than it allows.
    private static let newerThanLibheif = [
        "metadata not correctly assigned to image", "too many auxiliary image references",
        "security limit", "exceeds the maximum image size",
    ]

    /// Whether a decoder only grumbles: the JPEG has bytes to spare between its segments, as many
    /// cameras write them, and no pixel is lost.
    static func isHarmless(_ error: VipsError) -> Bool {
        error.text.contains("extraneous bytes before marker")
            || error.text.contains("unknown Adobe color transform")
            || error.text.contains("Inconsistent progression sequence")
    }
}
