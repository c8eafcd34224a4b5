public import Boxes
public import Adjustments
public import RenderProtocol

/// What a photo's file says that decoding it will take, read before any decoder opens the file.
///
/// Decoders do much of their work when they open: libvips has all frames of a GIF looked at, all
/// directories of a TIFF read and every profile inflated before it answers how large the picture is. So
/// whatever has a limit is counted here first, by walks that allocate nothing that the file asks for. They
/// are no judges: what they cannot follow, the decoder is left to refuse, and they never find more than
/// there is.
public struct PhotoSurvey: Sendable, Equatable {
    /// Width and height as stored, when they stand where they should.
    public var size: PixelSize?
    /// Pictures of an animation.
    public var frames = 0
    /// Directories of a TIFF.
    public var pages = 0
    /// Scans of a JPEG.
    public var scans = 0
    /// Bytes of the ICC profile, inflated.
    public var profileBytes = 0
    /// Bytes of other metadata, inflated, and ``itemBytes`` for each piece.
    public var metadataBytes = 0

    /// The reason why no decoder of ours opens it, as the end of a sentence; nil when the header tells none.
    public var obstacle: String?
    /// The reason why a movie is not edited; nil when its tables tell none.
    public var movieProblem: MovieProblem?

    /// Bytes of the file.
    public let fileBytes: Int
    let limits: RenderLimits

    /// What a decoder keeps for a piece of metadata beside what is in it, about: so a million empty ones
    /// are not for nothing.
    static let itemBytes = 64

    /// Looks at a file, up to where the first limit is exceeded.
    ///
    /// - Parameter limits: counts beyond these are broken off.
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

    /// Refuses a file that is beyond a limit.
    ///
    /// - Throws: `tooManyPixels`, `exceedsLimit`, or `unsupportedFormat` for one that the decoders cannot open.
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

    /// Whether anything was counted beyond its limit, so that counting may end.
    var isBeyond: Bool {
        frames > limits.framesMax || pages > limits.pagesMax || scans > limits.scansMax
            || profileBytes > limits.profileMax || metadataBytes > limits.metadataMax
    }

    /// Takes a size; sides are cut to what can be multiplied.
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

    /// Without overflow: lengths are what the file says.
    static func sum(_ a: Int, _ b: Int) -> Int {
        let (sum, overflows) = a.addingReportingOverflow(max(0, b))
        return overflows ? .max : sum
    }
}
