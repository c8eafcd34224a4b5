import Boxes
import Adjustments
import Files
import FoundationEssentials
import GainMaps
import Headers
import JPEG
import Metadata
import RenderProtocol

/// A photo's open file whose content we have recognised, and which is within limits as far as its header says.
struct PhotoFile {
    let file: OpenFile
    /// Where it lies in the file: all of it, but for the video of a motion photo.
    let place: Range<Int>
    /// How sentences call it.
    let name: String
    /// What the content is.
    let format: PhotoFormat
    let limits: RenderLimits
    /// The frame of a movie that is read as a photo, in seconds from the beginning.
    let posterTime: Double

    /// The open file.
    var descriptor: Int32 { file.descriptor }
    /// Whether it is the video of a motion photo.
    let isMotionVideo: Bool

    /// Looks at the first bytes of a file, and through what comes before its pixels.
    ///
    /// - Parameters:
    ///   - limits: what is refused.
    ///   - posterTime: of a movie: the frame that is read as a photo, in seconds from the beginning.
    /// - Throws: `emptyFile`, `unsupportedFormat`, `unsupportedMediaType` (a kind of video that is not edited),
    ///   `damagedVideo`, `tooManyPixels`, `exceedsLimit`, or `ioFailure`.
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
        (place, name, isMotionVideo) = (0..<length, file.name, false)
        self.format = format
        self.limits = limits
        try PhotoSurvey(format, window, limits: limits).check(file.name)
    }

    /// Takes the video of a motion photo; its tables are not looked at.
    ///
    /// - Throws: `unsupportedFormat`.
    init(_ video: MotionVideo, of photo: PhotoFile, limits: RenderLimits) throws(Failure) {
        (file, place, isMotionVideo) = (photo.file, video.place, true)
        name = "the video of \(photo.name)"
        (format, self.limits, posterTime) = (.movie, limits, 0)
        guard PhotoFormat(sniffing: head(of: PhotoFormat.sniffedBytes)) == .movie else {
            throw Failure(
                .unsupportedFormat,
                "\(name) is of a kind that is not edited here; QuickTime and MPEG-4 are.")
        }
    }

    /// Its bytes, as headers are read.
    var window: FileWindow {
        let (file, place) = (file, place)
        return FileWindow(length: place.count) { offset, count in
            file.bytes(
                from: place.lowerBound + offset, count: max(0, min(count, place.count - offset)))
        }
    }

    /// Up to so many bytes from a place of it on; fewer at its end.
    func bytes(from offset: Int, count: Int) -> [UInt8] {
        let count = min(count, place.count - offset)
        return count > 0 ? file.bytes(from: place.lowerBound + offset, count: count) : []
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

    /// The first bytes of the file; none when it cannot be read any more, which shows when its pixels are
    /// read.
    func head(of count: Int) -> [UInt8] { bytes(from: 0, count: count) }

    /// EXIF that stands in directories of the file itself, as in TIFF and most RAW; nil when there is none.
    func exifOfDirectories() -> [UInt8]? {
        guard format == .tiff || format == .raw else { return nil }
        return ExifDirectories { file.bytes(from: $0, count: $1) }?.standalone()
    }

    /// The first directory of a TIFF, or nil.
    func firstDirectory() -> TIFFBytes.FirstDirectory? {
        TIFFBytes.FirstDirectory { file.bytes(from: $0, count: $1) }
    }
}
