import Codecs
import Edits
import Files
import FoundationEssentials
import PhotoFiles
import RenderProtocol

/// A photo's open file of a recognised format, whose header is within the limits.
struct PhotoFile {
    let file: OpenFile
    /// The photo's byte range in the file: the whole file, except for the video of a motion photo.
    let byteRange: Range<Int>
    let name: String
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

    var descriptor: Int32 { file.descriptor }
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

extension PhotoFile {
    /// Returns the photo's picture, or a small copy that was shrunk while it was decoded.
    ///
    /// - Parameter copySize: the stored size of the copy, before orientation; nil for the photo itself.
    /// - Throws: `VipsError` or `Failure`.
    func image(failOn: Image.FailOn, copySize: PixelSize?) throws -> Image {
        let photo = try image(failOn: failOn)
        guard let copySize else { return photo }
        return try shrunkWhileDecoded(photo, to: copySize)
            ?? photo.resized(width: copySize.width, height: copySize.height)
    }

    /// Decodes a JPEG at eighths of its size and shrinks it, with the metadata that libvips has read; nil if that is not possible.
    private func shrunkWhileDecoded(_ photo: Image, to size: PixelSize) throws -> Image? {
        guard format == .jpeg, survey?.isDeepJPEG != true else { return nil }
        do {
            for least in [1, 8] {
                guard let copy = try JPEGCopy.image(self, atLeast: size, eighthsMin: least) else {
                    return nil
                }
                if let image = try copy.image.withMetadata(of: photo).resized(
                    width: size.width, height: size.height, covered: copy.covered)
                {
                    return image
                }
            }
            return nil
        } catch let error as JPEGError {
            throw Failure(error, photo: name)
        }
    }

    /// The longest side of the copy for statistics: percentiles of 60 000 pixels equal those of all pixels.
    private static let statisticsSide = 256

    func statistics(storedSize: PixelSize) throws(Failure) -> PhotoStatistics {
        do {
            let copySize = storedSize.shrunk(Self.statisticsSide, of: storedSize)
            let copy = try image(failOn: .truncated, copySize: copySize)
            return PhotoStatistics(codes: try StandardImage(copy).inPlainSRGB().pixels())
        } catch {
            throw Failure(reading: error, photo: name)
        }
    }
}

extension Image {
    /// Returns the picture with the metadata that libvips has read of a photo.
    func withMetadata(of photo: Image) throws(VipsError) -> Image {
        try changing(
            ResultMetadata.fields.compactMap { name in
                photo.data(name).map { .setData(name, $0) }
            })
    }
}

extension StandardImage {
    /// Returns the picture in 8-bit sRGB without alpha, computed at once: for small pictures only.
    func inPlainSRGB() throws(VipsError) -> Image {
        try image.running(
            PixelProgram(
                source: layout, filters: [], target: .init(sample: .encoded8, bands: 3),
                height: image.height, colour: colour, targetColour: .sRGB)
        ).inMemory()
    }
}

extension PixelSize {
    /// Returns the size of a source whose result has the given longest side, or nil if the result is no larger anyway.
    ///
    /// - Parameter result: the size of the result for a source of this size.
    func shrunk(_ longestSide: Int, of result: PixelSize) -> PixelSize? {
        let factor = Double(longestSide) / Double(max(result.width, result.height))
        guard factor < 1 else { return nil }
        return PixelSize(
            width: max(1, Int((Double(width) * factor).rounded())),
            height: max(1, Int((Double(height) * factor).rounded())))
    }
}

extension PhotoFile {
    /// Returns the number of rows that the decoder makes together; see ``PhotoHeader/rowsAtOnce``.
    func rowsAtOnce(in image: Image) -> Int {
        let isWhole: Bool
        switch format {
        case .jpeg: isWhole = image.int("jpeg-multiscan") == 1
        case .png: isWhole = image.int("interlaced") == 1
        case .heif: return image.int(HEIFStill.rowsField) ?? image.height
        case .webp, .gif, .jxl, .raw, .movie: isWhole = true
        case .tiff:
            let rows = (rowsOfBlocks ?? Self.unknownBlockRows) * storedSize(of: image)
            return max(1, min(rows, image.height))
        }
        return isWhole ? image.height : 1
    }

    /// Whether it is a TIFF with uncompressed pixels (TIFF 6.0 §8, Compression 1).
    var isUncompressed: Bool { survey?.tiff?[.compression] == 1 }

    /// Whether libvips decodes whole strips or tiles of a TIFF. Of others it reads a strip of more than 128 rows row by row (8.14 to
    /// 8.16, tiff2vips.c, `read_scanlinewise`), but not of YCbCr, and not of separate planes.
    var hasWholeBlocks: Bool {
        guard let tiff = survey?.tiff else { return false }
        return tiff.isTiled || tiff[.photometric] == Self.lumaAndChroma
            || tiff[.planes] == Self.separatePlanes
    }

    // TIFF 6.0 §21 (YCbCr) and §8 (PlanarConfiguration).
    private static let lumaAndChroma = 6
    private static let separatePlanes = 2

    /// Height of a TIFF's tiles or strips; nil if its directory does not contain it.
    private var rowsOfBlocks: Int? {
        guard let picture = survey?.tiff else { return nil }
        return picture[.tileHeight] ?? picture[.rowsPerStrip]
    }

    /// Returns how many times larger stored pixels are than those of the picture: our reader keeps rows of tiles as they are stored,
    /// such as floating-point numbers of 64 bits.
    private func storedSize(of image: Image) -> Int {
        guard let picture = survey?.tiff, picture.needsOwnReader else { return 1 }
        return max(1, picture.samples * (picture.bits ?? 8) / (8 * image.bytesPerPixel))
    }

    /// An upper bound: tiles of most programs are lower.
    private static let unknownBlockRows = 512

    /// Reads the boxes of a HEIF; nil if it contains no HEVC, or if libheif reads it (AVIF).
    ///
    /// - Throws: `damagedPhoto`, or `unsupportedFormat` for kinds of pictures that no phone writes.
    func hevcStill() throws(Failure) -> HEIFStill? {
        guard format == .heif else { return nil }
        var window = window
        // libheif rejects a file without a list of pictures.
        guard let meta = HEIFMeta(of: &window), !HEIFStill.isAV1(meta) else { return nil }
        do throws(HEIFProblem) {
            return try HEIFStill(meta, in: &window)
        } catch {
            let code: FailureCode = error.kind == .damaged ? .damagedPhoto : .unsupportedFormat
            throw Failure(code, rendering: name, "HEIF: \(error)")
        }
    }

    /// Returns the turn by which the decoder makes the photo upright, as EXIF states it: positions in its metadata are those of the
    /// picture before. Metadata without such a turn describe the upright picture.
    func decoderTurn() -> Orientation {
        turnedExif().flatMap { Exif.orientation($0) }.flatMap { Orientation(rawValue: $0) }
            ?? .upright
    }

    /// Returns the EXIF of a photo that its decoder turns or mirrors; nil for others.
    private func turnedExif() -> [UInt8]? {
        if format == .jxl { return survey?.isTurned == true ? jxlBoxes?.exif : nil }
        // The decoder reports a fault in the boxes.
        if let still = try? hevcStill() { return still.placement.isTurned ? still.exif : nil }
        var window = window
        guard format == .heif, let meta = HEIFMeta(of: &window), let primary = meta.primary,
            meta.properties(of: primary).contains(where: \.isTurn)
        else { return nil }
        return HEIFStill.exif(of: primary, meta, in: &window)
    }
}

extension HEIFStill {
    /// The header field with the number of rows that are decoded together.
    static let rowsField = "minilab-rows-at-once"
    /// The header field with the horizontal shift of chroma and, times 16, the vertical one; absent without chroma.
    static let chromaField = "minilab-chroma"

    static func chroma(of image: Image) -> Recipe.Chroma? {
        switch image.int(chromaField) {
        case 0x11: .half
        case 0x01: .halfColumns
        case .some: .full
        case nil: nil
        }
    }

    /// Returns the upright picture with its metadata; rows of tiles are decoded on demand.
    ///
    /// - Throws: `VipsError` or `Failure`.
    func image(_ photo: PhotoFile) throws -> Image {
        let rows: HEICRows
        do throws(HEICError) {
            rows = try HEICRows(self, in: photo.window)
        } catch {
            throw Failure(error, photo: photo.name)
        }
        let isEight = bitsPerSample == 8
        let picture = RegionPicture(
            width: rows.width, height: rows.height, bands: rows.bands,
            format: isEight ? .uchar : .ushort, interpretation: isEight ? "srgb" : "rgb16")
        let image = try Image.suppliedRows(picture) { row in
            do throws(HEICError) {
                try rows.makeRow(into: row)
                return nil
            } catch {
                return error.message
            }
        }
        var fields: [Image.MetadataChange] = [
            .setInt(Self.rowsField, rowsAtOnce), .setInt("n-pages", pictures),
        ]
        if let shift = chromaShift {
            fields.append(.setInt(Self.chromaField, shift.x | shift.y << 4))
        }
        if let exif { fields.append(.setData("exif-data", Array("Exif\0\0".utf8) + exif)) }
        if let xmp { fields.append(.setData("xmp-data", xmp)) }
        if let profile { fields.append(.setData("icc-profile-data", profile)) }
        return try image.changing(fields)
    }
}

extension Failure {
    init(_ error: HEICError, photo: String) {
        let message = error.message
        self.init(Self.code(operation: "heifload", text: message), rendering: photo, message)
    }
}

extension HEICError {
    /// The message by which ``Failure/code(operation:text:)`` classifies failures.
    fileprivate var message: String { "heif: \(self)" }
}

extension HEIFProperty {
    fileprivate var isTurn: Bool {
        switch self {
        case .rotation(let quarterTurns): quarterTurns > 0
        case .mirror: true
        default: false
        }
    }
}
