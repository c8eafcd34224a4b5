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
    public var frames = 0
    public var pages = 0
    /// Directories of a TIFF with a reduced copy of another one.
    public var reducedPages = 0
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
    public internal(set) var isTurned = false
    /// Whether a JPEG XL is an animation; its frames cannot be counted before they are decoded.
    public internal(set) var isAnimation = false
    public internal(set) var tiff: TIFFPicture?
    public internal(set) var firstTIFF: TIFFPicture?
    /// Whether a TIFF has pictures below its directories that are no smaller copies, beside its picture.
    public internal(set) var hasPicturesBelow = false
    /// The chunks of a PNG that declare the meaning of its codes.
    public internal(set) var pngColour = PNGColour()

    /// The reason why no decoder can open it, as the end of a sentence; nil if the header shows none.
    public var obstacle: String?
    /// The reason why a movie cannot be edited; nil if its tables show none.
    public var movieProblem: MovieProblem?

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

    mutating func addMetadata(_ bytes: Int) {
        metadataBytes = Self.sum(metadataBytes, Self.sum(bytes, Self.itemBytes))
    }

    mutating func addProfile(_ bytes: Int) { profileBytes = Self.sum(profileBytes, bytes) }

    /// Adds without overflow: the file determines the lengths.
    static func sum(_ a: Int, _ b: Int) -> Int {
        let (sum, overflows) = a.addingReportingOverflow(max(0, b))
        return overflows ? .max : sum
    }
}

// RFC 9649: §2.3 (chunks), §2.7 (extended format); RFC 6386 §9.1 (VP8's frame header).
extension PhotoSurvey {
    /// The chunks with pixels: lossy, lossless, alpha.
    private static let webPPixels = ["VP8 ", "VP8L", "ALPH"]

    mutating func readWebP(_ file: inout FileWindow) {
        var offset = 12
        while !isBeyond, let declaredLength = file.little(offset + 4, 4) {
            let data = offset + 8
            let length = file.existing(declaredLength, from: data)
            if file.has("VP8X", at: offset) {
                guard let width = file.little(data + 4, 3), let height = file.little(data + 7, 3)
                else { return }
                setSize(width + 1, height + 1)
            } else if size != nil, Self.webPPixels.contains(where: { file.has($0, at: offset) }) {
                // Those of an extended file, whose size is told already. Many empty ones cost time, too.
                addMetadata(0)
            } else if file.has("VP8 ", at: offset) {
                // Three bytes and a signature precede the size, whose upper two bits are a scale.
                guard let width = file.little(data + 6, 2), let height = file.little(data + 8, 2)
                else { return }
                setSize(width & 0x3FFF, height & 0x3FFF)
            } else if file.has("VP8L", at: offset) {
                guard let bits = file.little(data + 1, 4) else { return }
                setSize(bits & 0x3FFF + 1, bits >> 14 & 0x3FFF + 1)
            } else if file.has("ANMF", at: offset) {
                frames += 1
            } else if file.has("ICCP", at: offset) {
                addProfile(length)
            } else {
                addMetadata(length)
            }
            offset = data + declaredLength + declaredLength % 2
        }
    }

    /// Reads the box `meta`, which is loaded completely. Pixels are not read.
    mutating func readHEIF(_ file: inout FileWindow) {
        guard let box = file.firstBox("meta", in: 0..<file.length) else { return }
        addMetadata(box.content.count)
        guard !isBeyond else { return }
        let meta = HEIFMeta(file.all(box.content))
        for case .profile(let bytes) in meta.properties {
            addProfile(bytes.count)
            metadataBytes -= bytes.count
        }
        for case .size(let width, let height) in meta.primary.map(meta.properties(of:)) ?? [] {
            setSize(width, height)
        }
        if let colour = HEIFColour(meta) { noteTransfer(colour.transfer) }
        // Items may share bytes, and each item is read separately, so each counts.
        for (id, location) in meta.locations where meta.items[id]?.isMetadata == true {
            addMetadata(
                location.extents.reduce(0) { sum, extent in
                    Self.sum(sum, file.existing(extent.length ?? .max, from: 0))
                })
        }
    }

    /// Records that the codes have an HDR transfer function, which usual screens do not support. Read as sRGB, they look grey and
    /// flat.
    ///
    /// Source: ITU-T H.273 §8.2: transfer characteristics 16 are PQ (SMPTE ST 2084), 18 are HLG (ARIB STD-B67).
    mutating func noteTransfer(_ transfer: Int) {
        guard let name = [16: "PQ", 18: "HLG"][transfer] else { return }
        obstacle =
            "its colours are \(name) (H.273 transfer \(transfer)), which is HDR alone, without a picture for usual screens; have "
            + "it exported as SDR, or as HDR with a gain map"
    }
}

// ISO/IEC 18181-2 §9 (boxes), 18181-1 §D.2 (SizeHeader), §D.3 (ImageMetadata). libvips 8.14 requests only the codestream's box from
// libjxl, and libjxl rejects a profile beyond its own limits.
extension PhotoSurvey {
    mutating func readJXL(_ file: inout FileWindow) {
        if file.has("\u{0}\u{0}\u{0}\u{C}JXL ", at: 0) {
            guard
                let box = file.boxes(in: 0..<file.length)
                    .first(where: { $0.type == "jxlc" || $0.type == "jxlp" })
            else { return }
            // A partial codestream begins with its number.
            readSize(&file, at: box.content.lowerBound + (box.type == "jxlp" ? 4 : 0))
        } else {
            readSize(&file, at: 0)
        }
    }

    /// Bytes of the codestream that are read: a size, and some channels with names.
    private static let headBytes = 1024

    private mutating func readSize(_ file: inout FileWindow, at offset: Int) {
        let codestream = file.bytes(offset, Self.headBytes)
        guard codestream.starts(with: [0xFF, 0x0A]) else { return }
        var bits = JXLBits(codestream.dropFirst(2))
        let (width, height) = bits.readSize()
        setSize(width, height)
        // libvips requests all channels interleaved from libjxl, which returns four at most.
        let inks = bits.readExtraChannels().filter { $0 == .black || $0 == .spot }
        isMultipliedByAlpha = bits.isMultipliedByAlpha
        (isAnimation, isTurned) = (bits.isAnimation, bits.isTurned)
        if let transfer = bits.readTransfer() { noteTransfer(transfer) }
        if !inks.isEmpty {
            obstacle =
                "it is a JPEG XL with \(inks.count == 1 ? "a channel" : "\(inks.count) channels") of black or spot colour"
        }
    }
}

// GIF89a: §18 (screen), §20 (image), §23 to §26 (extensions), §15 (sub-blocks).
extension PhotoSurvey {
    /// Walks the blocks. Their lengths are interleaved with the pixels, every 255 bytes, so the whole file is read once; the walk
    /// ends at the limit on frames.
    ///
    /// The size is the area that the frames cover: libnsgif enlarges the screen for them, and ignores the size of some screens.
    mutating func readGIF(_ file: inout FileWindow) {
        guard let flags = file.byte(10) else { return }
        var offset = 13 + Self.tableBytes(flags)
        var (right, bottom) = (0, 0)
        while !isBeyond, let kind = file.byte(offset) {
            switch kind {
            case 0x2C:
                guard let left = file.little(offset + 1, 2), let top = file.little(offset + 3, 2),
                    let width = file.little(offset + 5, 2),
                    let height = file.little(offset + 7, 2), let flags = file.byte(offset + 9)
                else { return }
                frames += 1
                (right, bottom) = (max(right, left + width), max(bottom, top + height))
                setSize(right, bottom)
                // The colour table, and the minimum code size.
                offset = Self.endOfBlocks(in: &file, from: offset + 11 + Self.tableBytes(flags))
            case 0x21:
                let end = Self.endOfBlocks(in: &file, from: offset + 2)
                addMetadata(end - offset)
                offset = end
            default: return
            }
        }
    }

    private static func tableBytes(_ flags: Int) -> Int {
        flags & 0x80 == 0 ? 0 : 3 << (flags & 7 + 1)
    }

    /// Returns the position after the empty sub-block that ends the sub-blocks.
    private static func endOfBlocks(in file: inout FileWindow, from start: Int) -> Int {
        var offset = start
        while let length = file.byte(offset), length > 0 { offset += 1 + length }
        return offset + 1
    }

    /// Reads `moov`, which is loaded completely. Frames are not read.
    mutating func readMovie(_ file: inout FileWindow) {
        do throws(MovieProblem) {
            let movie = try Movie(&file, limits: MovieLimits(limits))
            let size = movie.uprightSize
            setSize(size.width, size.height)
        } catch {
            movieProblem = error
        }
    }
}

extension MovieLimits {
    /// Creates the limits on movies from those on renders.
    public init(_ limits: RenderLimits) {
        self.init()
        boxes = limits.boxesMax
        tracks = limits.tracksMax
        movieFrames = limits.movieFramesMax
        movieSeconds = limits.movieSecondsMax
    }
}

extension Movie {
    public var uprightSize: (width: Int, height: Int) {
        let (width, height) = video.frameSize
        return video.matrix?.swapsSides == true ? (height, width) : (width, height)
    }
}

extension Failure {
    /// Creates the failure for a movie that cannot be edited because of its tables.
    public init(_ problem: MovieProblem, of movie: String, _ limits: RenderLimits) {
        switch problem.kind {
        case .damaged:
            self.init(
                .damagedVideo,
                "\(movie) is a movie whose tables contradict each other: \(problem). Upload it again."
            )
        case .unsupported:
            self.init(
                .unsupportedFormat,
                "\(movie) is a movie that is not edited here: \(problem). Convert it; trying again does not help."
            )
        case .limit(let name, let found):
            guard let limit = RenderLimit(rawValue: name) else {
                self.init(
                    .exceedsLimit,
                    "\(movie) is a movie that is too large to be read: \(problem). Send a shorter one."
                )
                return
            }
            self = limits.refusal(limit, found, of: movie)
        }
    }
}

// TIFF 6.0 §2, DNG 1.7.1 "Compression" (52546: JPEG XL). LibRaw 0.20 does not support such tiles and reports that the file has no
// data.
extension PhotoSurvey {
    private static let jpegXL = 52_546

    mutating func readRAW(_ file: inout FileWindow) {
        guard let first = TIFFBytes.FirstDirectory({ Array(file.bytes($0, $1)) }) else { return }
        let kinds = [first[.newSubfileType]] + first.below(.newSubfileType)
        let compressions = [first[.compression]] + first.below(.compression)
        // 0 is the photo itself, not a smaller copy of it.
        if zip(kinds, compressions).contains(where: { $0 ?? 0 == 0 && $1 == Self.jpegXL }) {
            obstacle = "it is a DNG with JPEG XL inside"
        }
    }
}
