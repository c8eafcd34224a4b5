import PhotoFiles
import Edits
import Files
import FoundationEssentials
import Codecs
import RenderProtocol

/// A photo's open file of a recognised format, whose header is within the limits.
struct PhotoFile {
    let file: OpenFile
    /// The photo's byte range in the file: the whole file, except for the video of a motion photo.
    let byteRange: Range<Int>
    /// The name of the photo in messages.
    let name: String
    /// The format of the content.
    let format: PhotoFormat
    let limits: RenderLimits
    /// The frame of a movie that is read as a photo, in seconds from the beginning.
    let posterTime: Double

    /// The chunks of a PNG that libvips does not read; nil for other formats.
    private(set) var pngChunks: PNGFurtherChunks?
    /// The metadata of a JPEG XL, which libvips does not read; nil for other formats.
    private(set) var jxlBoxes: JXLBoxes?
    /// The frames of an animation, and the pages of a TIFF that are no reduced copies, as the survey has counted them.
    var frames: Int { survey?.frames ?? 0 }
    var pages: Int { survey.map { $0.pages - $0.reducedPages } ?? 0 }

    /// The open file.
    var descriptor: Int32 { file.descriptor }
    /// Whether it is the video of a motion photo.
    let isMotionVideo: Bool
    /// The facts of the file's header; nil for the video of a motion photo.
    private(set) var survey: PhotoSurvey?

    /// Recognises the format by the first bytes, and surveys the file up to its pixels.
    ///
    /// - Parameters:
    ///   - limits: the limits that the file must keep.
    ///   - posterTime: for a movie, the frame that is read as a photo, in seconds from the beginning.
    /// - Throws: `emptyFile`, `unsupportedFormat`, `unsupportedMediaType` (a kind of video that cannot be edited), `damagedVideo`,
    ///   `tooManyPixels`, `exceedsLimit`, or `ioFailure`.
    init(
        _ file: OpenFile, limits: RenderLimits = RenderLimits(), posterTime: Double = 0
    ) throws(Failure) {
        self.posterTime = posterTime
        let length = try file.length()
        guard length > 0 else {
            throw Failure(
                .emptyFile, "\(file.name) has no bytes. Upload the photo again.")
        }
        let head = file.bytes(from: 0, count: PhotoFormat.sniffedBytes)
        let format = PhotoFormat(sniffing: head) {
            TIFFBytes.FirstDirectory { file.bytes(from: $0, count: $1) }
        }
        guard let format else {
            if let video = VideoContainer(sniffing: head) {
                throw Failure(
                    .unsupportedMediaType,
                    "\(file.name) is a video of a kind that is not edited here (\(video.rawValue)); QuickTime and MPEG-4 are. "
                        + "Convert it.")
            }
            let start = head.prefix(8).map { byte in
                (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }.joined(separator: " ")
            throw Failure(
                .unsupportedFormat,
                "\(file.name) is not a photo that we read: its content begins with \(start). Readable "
                    + "are " + PhotoFormat.allCases.map(\.rawValue).joined(separator: ", ")
                    + ", whatever the file is called.")
        }
        self.file = file
        (byteRange, name, isMotionVideo) = (0..<length, file.name, false)
        self.format = format
        self.limits = limits
        let survey = PhotoSurvey(format, window, limits: limits)
        try survey.check(file.name)
        self.survey = survey
        if format == .png {
            var window = window
            pngChunks = PNGFurtherChunks(&window)
        } else if format == .jxl {
            var window = window
            jxlBoxes = JXLBoxes(&window)
        }
    }

    /// Opens the video of a motion photo, without reading its tables.
    ///
    /// - Throws: `unsupportedFormat`.
    init(_ video: MotionVideo, of photo: PhotoFile, limits: RenderLimits) throws(Failure) {
        (file, byteRange, isMotionVideo) = (photo.file, video.byteRange, true)
        name = "the video of \(photo.name)"
        (format, self.limits, posterTime) = (.movie, limits, 0)
        guard PhotoFormat(sniffing: head(of: PhotoFormat.sniffedBytes)) == .movie else {
            throw Failure(
                .unsupportedFormat,
                "\(name) is of a kind that is not edited here; QuickTime and MPEG-4 are.")
        }
    }

    /// The photo's bytes, for readers of headers.
    var window: FileWindow {
        let (file, byteRange) = (file, byteRange)
        return FileWindow(length: byteRange.count) { offset, count in
            file.bytes(
                from: byteRange.lowerBound + offset,
                count: max(0, min(count, byteRange.count - offset)))
        }
    }

    /// Returns up to `count` bytes from an offset in the file; fewer at its end.
    func bytes(from offset: Int, count: Int) -> [UInt8] {
        let count = min(count, byteRange.count - offset)
        return count > 0 ? file.bytes(from: byteRange.lowerBound + offset, count: count) : []
    }

    /// Returns the limits for libjpeg-turbo.
    ///
    /// - Parameter coefficientBytesMax: the most bytes of coefficients that are kept in memory.
    func jpegLimits(coefficientBytesMax: Int) -> JPEGLimits {
        JPEGLimits(
            scansMax: limits.scansMax,
            markerBytesMax: limits.metadataMax + limits.profileMax,
            coefficientBytesMax: coefficientBytesMax)
    }

    /// Returns the first bytes of the file, or none if it cannot be read. Reading its pixels then reports the error.
    func head(of count: Int) -> [UInt8] { bytes(from: 0, count: count) }

    /// Returns EXIF from directories of the file itself, as in TIFF and most RAW formats; nil if there is none.
    func exifOfDirectories() -> [UInt8]? {
        guard format == .tiff || format == .raw else { return nil }
        return ExifDirectories { file.bytes(from: $0, count: $1) }?.standalone()
    }
}
