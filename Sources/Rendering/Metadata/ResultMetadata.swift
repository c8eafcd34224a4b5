import Adjustments
import GainMaps
import Metadata
import RenderProtocol
import Vips

/// The metadata of a result: the original's metadata, updated for the result.
struct ResultMetadata {
    /// EXIF as a TIFF structure without `Exif\0\0`, or nil.
    let exif: [UInt8]?
    /// An XMP packet, or nil.
    let xmp: [UInt8]?
    /// IPTC records, or nil.
    let iptc: [UInt8]?
    /// The ICC profile, or nil if neither the original nor the result has one and both are sRGB.
    let profile: [UInt8]?

    private enum Field {
        static let exif = "exif-data"
        static let xmp = "xmp-data"
        static let iptc = "iptc-data"
        static let profile = "icc-profile-data"
        static let orientation = "orientation"
        /// The prefix of libvips' fields for texts of a PNG.
        static let comments = "png-comment-"
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
            (exif, xmp, iptc) = (nil, nil, nil)
            return
        }
        var facts = facts
        facts.removesLocation = strip == .gps
        exif = file.exif(of: original).flatMap { Exif.revised($0, to: facts) }
            .map { Exif.withoutPrefix($0) }
        xmp = file.xmp(of: original).flatMap { XMP.revised($0, to: facts) }
        iptc = original.data(Field.iptc).flatMap { IPTC.records(in: $0) }
    }

    /// Returns changes of a header after which a saver writes exactly this metadata.
    ///
    /// EXIF is complete only after ``ExifPlaceholder`` is filled.
    func changes(
        of image: Image, strip: Recipe.Strip, format: Recipe.Format, placeholder: ExifPlaceholder?
    ) -> [Image.MetadataChange] {
        var changes = image.fieldNames
            .filter { !Self.isText($0, keptBy: strip) }
            .map(Image.MetadataChange.remove)
        changes.append(.setInt(Field.orientation, 1))
        if let profile { changes.append(.setData(Field.profile, profile)) }
        if let xmp = format == .jpeg ? jpegXMP?.packet : xmp {
            changes.append(.setData(Field.xmp, xmp))
        }
        if let iptc, format == .jpeg {
            changes.append(.setData(Field.iptc, IPTC.photoshopBlock(iptc)))
        }
        if let placeholder { changes += placeholder.changes }
        return changes
    }

    /// The packet for a JPEG, with its extension; nil if there is none that fits.
    var jpegXMP: ExtendedXMP.Parts? { xmp.flatMap { ExtendedXMP.split($0) } }

    /// Returns the metadata that ``PNGEncoder`` writes.
    ///
    /// - Parameter image: the header that contains the texts.
    func ofPNG(_ image: Image, strip: Recipe.Strip) -> PNGMetadata {
        let fields = image.fieldNames.filter { Self.isText($0, keptBy: strip) }
        return PNGMetadata(
            profile: profile, exif: exif, xmp: xmp,
            texts: fields.compactMap { field in
                // The field's name contains a number and the key.
                let parts = field.dropFirst(Field.comments.count).split(
                    separator: "-", maxSplits: 1)
                guard parts.count == 2, let text = image.string(field) else { return nil }
                return (String(parts[1]), text)
            })
    }

    /// Whether a field is a text of a PNG that may be kept. Programs without support for `eXIf` write EXIF and XMP as texts (`Raw
    /// profile type exif`), and ImageMagick also writes each tag (`exif:GPSLatitude`): those are removed together with the
    /// location.
    private static func isText(_ field: String, keptBy strip: Recipe.Strip) -> Bool {
        guard field.hasPrefix(Field.comments) else { return false }
        switch strip {
        case .none: return true
        case .gps:
            let key = field.lowercased()
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
        image.data("exif-data") ?? exifOfDirectories() ?? pngChunks?.exif
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
        default: return packet
        }
    }
}
