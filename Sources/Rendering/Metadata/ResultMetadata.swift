import Edits
import PhotoFiles
import RenderProtocol
import Codecs

/// The metadata of a result: the original's metadata, updated for the result.
struct ResultMetadata {
    /// EXIF as a TIFF structure without `Exif\0\0`, or nil.
    let exif: [UInt8]?
    /// An XMP packet, or nil.
    let xmp: [UInt8]?
    /// IPTC records, or nil.
    let iptc: [UInt8]?
    /// Texts of a PNG that libvips does not read.
    private let texts: [(key: String, text: String)]
    /// The ICC profile, or nil if neither the original nor the result has one and both are sRGB.
    let profile: [UInt8]?

    private enum Field {
        static let exif = "exif-data"
        static let xmp = "xmp-data"
        static let iptc = "iptc-data"
        static let profile = "icc-profile-data"
        static let orientation = "orientation"
    }

    /// libvips' names of the original's metadata from which the result's is made.
    static let fields = [Field.exif, Field.xmp, Field.iptc, Field.profile]

    /// Reads the original's metadata.
    ///
    /// - Parameter file: the source of metadata that libvips does not read: the EXIF of TIFF and RAW.
    init(
        of original: Image, in file: PhotoFile, facts: PictureFacts, strip: Recipe.Strip,
        profile: [UInt8]?
    ) {
        self.profile = profile
        guard strip != .all else {
            (exif, xmp, iptc, texts) = (nil, nil, nil, [])
            return
        }
        var facts = facts
        facts.removesLocation = strip == .gps
        exif = file.exif(of: original).flatMap { Exif.revised($0, to: facts) }
            .map { Exif.withoutPrefix($0) }
        xmp = file.xmp(of: original).flatMap { XMP.revised($0, to: facts) }
        iptc = file.iptc(of: original).flatMap { IPTC.records(in: $0) }
        texts = file.pngChunks?.texts ?? []
    }

    /// Returns changes of a header after which a saver writes exactly this metadata.
    ///
    /// EXIF is complete only after ``ExifPlaceholder`` is filled.
    func changes(
        of image: Image, strip: Recipe.Strip, format: Recipe.Format, placeholder: ExifPlaceholder?
    ) -> [Image.MetadataChange] {
        var changes = image.fieldNames
            .filter { field in
                !(PNGFurtherChunks.key(field: field).map { Self.isKept($0, by: strip) } ?? false)
            }
            .map(Image.MetadataChange.remove)
        changes.append(.setInt(Field.orientation, 1))
        if let profile { changes.append(.setData(Field.profile, profile)) }
        if let xmp = format == .jpeg ? jpegXMP?.packet : xmp {
            changes.append(.setData(Field.xmp, xmp))
        }
        if let iptc, format == .jpeg {
            changes.append(.setData(Field.iptc, IPTC.photoshopBlock(iptc)))
        }
        if format == .png {
            changes += texts.enumerated().filter { Self.isKept($0.element.key, by: strip) }.map {
                .setString("\(PNGFurtherChunks.field)\(Self.textsMax + $0)-\($1.key)", $1.text)
            }
        }
        if let placeholder { changes += placeholder.changes }
        return changes
    }

    /// The packet for a JPEG, with its extension; nil if there is none that fits.
    var jpegXMP: ExtendedXMP.Parts? { xmp.flatMap { ExtendedXMP.split($0) } }

    /// The number from which texts count that libvips has not read; it reads at most 1,000 (libpng's limit of chunks).
    private static let textsMax = 1000

    /// Returns the metadata that ``PNGEncoder`` writes.
    ///
    /// - Parameter image: the header that contains the texts.
    func ofPNG(_ image: Image, strip: Recipe.Strip) -> PNGMetadata {
        let known = image.fieldNames.compactMap { field -> (key: String, text: String)? in
            guard let key = PNGFurtherChunks.key(field: field), let text = image.string(field)
            else { return nil }
            return (key, text)
        }
        return PNGMetadata(
            profile: profile, exif: exif, xmp: xmp,
            texts: (known + texts).filter { Self.isKept($0.key, by: strip) })
    }

    /// Whether a text of a PNG with this key is kept. Programs without support for `eXIf` write EXIF and XMP as texts (`Raw
    /// profile type exif`), and ImageMagick also writes each tag (`exif:GPSLatitude`): those are removed together with the
    /// location.
    private static func isKept(_ key: String, by strip: Recipe.Strip) -> Bool {
        switch strip {
        case .none: return !PNGFurtherChunks.isReadProfile(key)
        case .gps:
            let key = key.lowercased()
            return !key.contains("gps") && !key.contains("raw profile type")
        case .all: return false
        }
    }

    /// The metadata that ``TIFFEncoder`` writes.
    var ofTIFF: TIFFMetadata { TIFFMetadata(profile: profile, xmp: xmp) }
}

extension PhotoFile {
    /// Returns EXIF: as libvips has read it, or from a part of the file that it does not read.
    func exif(of image: Image) -> [UInt8]? {
        image.data("exif-data") ?? exifOfDirectories() ?? pngChunks?.exif ?? jxlBoxes?.exif
    }

    /// Returns IPTC: as libvips has read it, or from a part of the file that it does not read.
    func iptc(of image: Image) -> [UInt8]? {
        image.data("iptc-data") ?? pngChunks?.iptc ?? firstDirectory(.iptc)
    }

    /// Returns the XMP packet, with the extension that a JPEG may have.
    func xmp(of image: Image) -> [UInt8]? {
        let packet = image.data("xmp-data")
        switch format {
        case .jpeg:
            guard let packet, ExtendedXMP.isNamed(in: packet) else { return packet }
            var window = window
            return JPEGSegments(&window, at: 0)?.wholeXMP ?? packet
        case .png: return packet ?? pngChunks?.xmp
        case .jxl: return packet ?? jxlBoxes?.xmp
        case .tiff: return packet ?? firstDirectory(.xmp)
        // libvips 8.14 takes an item for XMP only if it begins with `<x:xmpmeta`.
        case .heif: return packet ?? xmpOfItems()
        default: return packet
        }
    }

    private func xmpOfItems() -> [UInt8]? {
        var window = window
        guard let meta = HEIFMeta(of: &window), let primary = meta.primary else { return nil }
        return HEIFStill.xmp(of: primary, meta, in: &window)
    }

    /// Returns the bytes of a tag of a TIFF's first directory, which has the metadata also if another one has the picture.
    private func firstDirectory(_ tag: TIFFPicture.Tag) -> [UInt8]? {
        guard let range = survey?.firstTIFF?.range(of: tag) else { return nil }
        var window = window
        return window.all(range)
    }
}
