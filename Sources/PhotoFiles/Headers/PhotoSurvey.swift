public import Edits
public import RenderProtocol

/// The resources that decoding a photo will take, by its file, read before any decoder opens the file.
///
/// Decoders do much of their work when they open a file: libvips has all frames of a GIF read, all directories of a TIFF loaded and
/// every profile inflated before it reports the picture's size. So every quantity with a limit is counted here first, by walks that
/// allocate nothing at the file's request. The walks do not validate: they leave errors to the decoder, and they never count more
/// than there is.
public struct PhotoSurvey: Sendable, Equatable {
    /// Width and height as stored, if found at their standard offsets.
    public var size: PixelSize?
    /// Frames of an animation.
    public var frames = 0
    /// Directories of a TIFF.
    public var pages = 0
    /// Directories of a TIFF with a reduced copy of another one.
    public var reducedPages = 0
    /// Scans of a JPEG.
    public var scans = 0
    /// Bytes of the ICC profile, inflated.
    public var profileBytes = 0
    /// Bytes of other metadata, inflated, and ``itemBytes`` for each piece.
    public var metadataBytes = 0
    /// The offset of the first scan's codes in a JPEG.
    public internal(set) var codesOffset: Int?
    /// Whether a JPEG has 12 bits a sample.
    public internal(set) var isDeepJPEG = false
    /// Whether the colours of a JPEG XL are multiplied by alpha.
    public internal(set) var isMultipliedByAlpha = false
    /// Whether decoders turn or mirror a JPEG XL.
    public internal(set) var isTurned = false
    /// Whether a JPEG XL is an animation; its frames cannot be counted before they are decoded.
    public internal(set) var isAnimation = false
    /// The directory of a TIFF's picture.
    public internal(set) var tiff: TIFFPicture?
    /// The first directory of a TIFF.
    public internal(set) var firstTIFF: TIFFPicture?
    /// Whether a TIFF has pictures below its directories that are no smaller copies, beside its picture.
    public internal(set) var hasPicturesBelow = false
    /// The chunks of a PNG that declare the meaning of its codes.
    public internal(set) var pngColour = PNGColour()

    /// The reason why no decoder can open it, as the end of a sentence; nil if the header shows none.
    public var obstacle: String?
    /// The reason why a movie cannot be edited; nil if its tables show none.
    public var movieProblem: MovieProblem?

    /// Bytes of the file.
    public let fileBytes: Int
    let limits: RenderLimits

    /// The approximate memory that a decoder needs for each piece of metadata beside its contents, so that a million empty ones
    /// count too.
    static let itemBytes = 64

    /// Surveys a file, up to the first exceeded limit.
    ///
    /// - Parameter limits: counting stops beyond these.
    public init(_ format: PhotoFormat, _ file: FileWindow, limits: RenderLimits) {
        var file = file
        fileBytes = file.length
        self.limits = limits
        switch format {
        case .jpeg: readJPEG(&file)
        case .png: readPNG(&file)
        case .gif: readGIF(&file)
        case .tiff: readTIFF(&file)
        case .webp: readWebP(&file)
        case .heif: readHEIF(&file)
        case .jxl: readJXL(&file)
        // LibRaw has limits of its own.
        case .raw: readRAW(&file)
        case .movie: readMovie(&file)
        }
    }

    /// Rejects a file that exceeds a limit.
    ///
    /// - Throws: `tooManyPixels`, `exceedsLimit`, or `unsupportedFormat` for a file that the decoders cannot open.
    public func check(_ photo: String) throws(Failure) {
        try limits.check(.bytes, fileBytes, of: photo)
        if let size {
            try limits.check(size, of: photo)
            if size.pixels > RenderLimits.densePixelsMin {
                try limits.check(.density, size.pixels / max(1, fileBytes), of: photo)
            }
        }
        try limits.check(.frames, frames, of: photo)
        try limits.check(.pages, pages, of: photo)
        try limits.check(.scans, scans, of: photo)
        try limits.check(.profile, profileBytes, of: photo)
        try limits.check(.metadata, metadataBytes, of: photo)
        if let movieProblem { throw Failure(movieProblem, of: photo, limits) }
        if let obstacle {
            throw Failure(
                .unsupportedFormat,
                "\(photo) cannot be opened: \(obstacle). Convert it, to JPEG or PNG say; trying again does not help."
            )
        }
    }

    /// Whether a count exceeds its limit, so that counting may stop.
    var isBeyond: Bool {
        frames > limits.framesMax || pages > limits.pagesMax || scans > limits.scansMax
            || profileBytes > limits.profileMax || metadataBytes > limits.metadataMax
    }

    /// Sets the size; sides are clamped so that their product cannot overflow.
    mutating func setSize(_ width: Int, _ height: Int) {
        let most = Int(Int32.max)
        size = PixelSize(width: min(max(0, width), most), height: min(max(0, height), most))
    }

    /// Adds a piece of metadata.
    mutating func addMetadata(_ bytes: Int) {
        metadataBytes = Self.sum(metadataBytes, Self.sum(bytes, Self.itemBytes))
    }

    /// Adds a part of the profile.
    mutating func addProfile(_ bytes: Int) { profileBytes = Self.sum(profileBytes, bytes) }

    /// Adds without overflow: the file determines the lengths.
    static func sum(_ a: Int, _ b: Int) -> Int {
        let (sum, overflows) = a.addingReportingOverflow(max(0, b))
        return overflows ? .max : sum
    }
}
