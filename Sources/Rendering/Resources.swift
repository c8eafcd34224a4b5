import Codecs
import Edits
import Files
import RenderProtocol

/// The files that edits name by the digest of their content: colour tables, masks, watermarks.
///
/// They arrive with a request, opened by the worker. The code that uses a file determines its format.
struct Resources: Sendable {
    /// The files by digest, `"sha256:…"`.
    let files: [String: OpenFile]

    /// The longest resource in bytes: a table of 128³ entries as text has about 60 MB.
    static let bytesMax = 128 << 20

    static let none = Resources(files: [:])

    /// Returns a resource's file.
    ///
    /// The content is verified against the digest, so that a wrong file never changes a photo.
    ///
    /// - Throws: `missingResource`, or `badResource` if the content differs or is too long.
    func file(_ digest: String) throws(Failure) -> OpenFile {
        guard let file = files[digest] else {
            throw Failure.missingResource(digest)
        }
        let length = try file.length()
        guard length <= Self.bytesMax else {
            throw Failure(
                .badResource,
                "\(digest) has \(length) bytes; a resource has at most \(Self.bytesMax).")
        }
        let content = try FileDigest.sha256(of: file)
        guard "sha256:" + content.hex == digest else {
            throw Failure(
                .badResource,
                "The file of \(digest) has content that does not match its name: \(content.hex).")
        }
        return file
    }

    /// Returns a resource's bytes.
    ///
    /// - Throws: as ``file(_:)``, and `badResource` if it has more than `bytesMax` bytes.
    @Sendable func bytes(_ digest: String, bytesMax: Int) throws(Failure) -> [UInt8] {
        let file = try file(digest)
        let length = try file.length()
        guard length <= bytesMax else {
            throw Failure(
                .badResource,
                "\(digest) has \(length) bytes; at most \(bytesMax) are read for this filter.")
        }
        let bytes = file.bytes(from: 0, count: length)
        guard bytes.count == length else {
            throw Failure(
                .badResource, "\(digest) ended after \(bytes.count) of \(length) bytes.")
        }
        return bytes
    }
}

extension Resources {
    /// Returns the upright sizes of pictures, from their headers. Missing files are omitted.
    ///
    /// - Parameter told: the sizes that are known of some of them.
    /// - Throws: `badResource` if a file is no picture, or has another size than is known.
    func sizes(
        of digests: Set<String>, told: [String: PixelSize]
    ) throws(Failure) -> [String: PixelSize] {
        var sizes: [String: PixelSize] = [:]
        for digest in digests.sorted() where files[digest] != nil {
            let size = try ResourcePicture.size(of: file(digest))
            if let known = told[digest], known != size {
                throw Failure(
                    .badResource,
                    "\(digest) is a picture of \(size) by its header, and the request says \(known). Its edit is not "
                        + "rendered; the job is refused.")
            }
            sizes[digest] = size
        }
        return sizes
    }
}

extension ResourcePicture {
    /// Returns the upright size of a picture from its header.
    ///
    /// - Throws: `badResource` if it is none.
    static func size(of resource: OpenFile) throws(Failure) -> PixelSize {
        do {
            let header = try PhotoFile(resource).header()
            try check(header.storedSize, resource.name)
            return header.uprightSize
        } catch {
            throw unusable(error, resource)
        }
    }

    private static func unusable(_ error: any Error, _ resource: OpenFile) -> Failure {
        let reason = Failure(reading: error, photo: resource.name).message
        return Failure(
            .badResource, "The file of an edit is no picture that can be used: \(reason)")
    }

    /// Decodes a picture of any supported photo format.
    ///
    /// - Throws: `badResource` if it cannot be read or has too many pixels.
    init(_ resource: OpenFile, _ fit: Fit) throws(Failure) {
        do {
            let file = try PhotoFile(resource)
            let header = try file.header()
            try Self.check(header.storedSize, resource.name)
            let upright = header.uprightSize
            let size =
                switch fit {
                case .scaled(let scale): Self.size(of: upright, scaledBy: scale)
                case .within(let most):
                    PixelSize(
                        width: min(upright.width, most.width),
                        height: min(upright.height, most.height))
                }
            try Self.check(size, resource.name)
            let photo = try StandardImage(file.image(failOn: .truncated))
            var image = try photo.image.running(
                PixelProgram(
                    source: photo.layout, filters: [], target: .init(sample: .encoded8, bands: 4),
                    height: photo.image.height, colour: photo.colour, targetColour: .sRGB)
            ).inMemory()
            image = try image.upright(from: header.orientation, spool: .none)
            if size != upright {
                image = try image.resized(width: size.width, height: size.height)
            }
            self.init(size: size, codes: try image.pixels())
        } catch {
            throw Self.unusable(error, resource)
        }
    }

    private static func check(_ size: PixelSize, _ name: String) throws(Failure) {
        guard size.pixels <= pixelsMax else {
            throw Failure(
                .badResource,
                "\(name) would be \(size) pixels; a picture that an edit names has at most \(pixelsMax)."
            )
        }
    }
}

/// A photo in a form that the pixel programs read: 8 or 16 bits, grey or RGB, with or without alpha, in a known colour space.
struct StandardImage {
    let image: Image
    let layout: PixelProgram.Layout
    let colour: PhotoColour
    /// The profile that defines the meaning of the codes; nil means sRGB.
    let profile: [UInt8]?
    /// Whether the meaning of the codes differs from the original's.
    let isConverted: Bool

    /// Creates a picture with codes of known meaning.
    init(_ image: Image, layout: PixelProgram.Layout, colour: PhotoColour) {
        (self.image, self.layout, self.colour) = (image, layout, colour)
        (profile, isConverted) = (nil, false)
    }

    private static let profileField = "icc-profile-data"
    private static let rgb = ["srgb", "rgb", "rgb16"]
    private static let grey = ["b-w", "grey16"]

    /// Converts a photo from its loader.
    ///
    /// RGB with a matrix profile, or without any, stays unchanged and keeps its profile. RGB with tables (such as XYB), CMYK, and
    /// grey with a profile of its own are converted to sRGB by Little CMS, in 16 bits so that nothing is rounded twice. Grey
    /// without a profile, Lab and floating point are converted to sRGB by libvips. A profile for another kind of picture does not
    /// apply and is dropped.
    init(_ photo: Image) throws(VipsError) {
        let kind = photo.interpretation
        let profile = photo.data(Self.profileField)
        let isCMYK = kind == "cmyk"
        let isIntegers = photo.format == .uchar || photo.format == .ushort
        let isGrey = photo.bands <= 2
        let isPlain =
            isIntegers
            && (Self.rgb.contains(kind) || Self.grey.contains(kind) || kind == "multiband")
        var image = photo
        var known = PhotoColour.sRGB
        var keptProfile: [UInt8]?
        var isConverted = false
        if isCMYK {
            image = try Self.converted(image, colours: 4, fallback: "cmyk")
            isConverted = true
        } else if !isPlain {
            image = try image.converted(to: "rgb16")
            isConverted = true
        } else if let profile, isGrey == Self.isGreyProfile(profile) {
            if !isGrey, let colour = ICCMatrixProfile(profile).flatMap(PhotoColour.init) {
                known = colour
                keptProfile = profile
            } else {
                image = try Self.converted(image, colours: isGrey ? 1 : 3, fallback: "srgb")
                isConverted = true
            }
        }
        self.image = image
        self.isConverted = isConverted
        self.profile = isConverted ? OutputColour.sRGBProfile : keptProfile
        colour = known
        layout = PixelProgram.Layout(
            sample: image.format == .ushort ? .encoded16 : .encoded8,
            bands: min(image.bands, 4))
    }

    private static func isGreyProfile(_ profile: [UInt8]) -> Bool {
        profile.count >= 20 && Array(profile[16..<20]) == Array("GRAY".utf8)
    }

    /// Converts without alpha: with it, libvips 8.14.1's ICC conversion can crash (fixed in 8.14.5).
    private static func converted(_ image: Image, colours: Int, fallback: String)
        throws(VipsError) -> Image
    {
        guard image.bands > colours else {
            return try image.convertedToSRGB(fallback: fallback, bits: 16)
        }
        let alpha = try image.bands(from: colours, count: 1)
            .scaled(by: image.format == .uchar ? 257 : 1, to: .ushort)
        return try image.bands(from: 0, count: colours)
            .convertedToSRGB(fallback: fallback, bits: 16).joined(with: alpha)
    }
}
