import Edits
import PhotoFiles
import RenderProtocol
import Codecs

/// The facts of a photo's metadata that decide which formats hold them.
struct MetadataFacts: Sendable {
    var exifBytes = 0
    var xmpBytes = 0
    /// Whether the XMP fits into a JPEG, with an extension if it is large.
    var xmpFitsJPEG = true
    /// The formats that hold the photo's IPTC; nil if it has none. A PNG keeps that of a PNG as a text.
    var holdersOfIPTC: Set<Recipe.Format>?
    /// Whether a PNG has texts beside profiles.
    var hasTexts = false
    /// EXIF and XMP that are there and cannot be read.
    var unreadable: Set<Companion> = []
}

extension PhotoFile {
    /// Returns the facts of the metadata of the photo's picture.
    func metadataFacts(of image: Image) -> MetadataFacts {
        var facts = MetadataFacts()
        facts.exifBytes = exif(of: image).map { Exif.withoutPrefix($0).count } ?? 0
        if let xmp = xmp(of: image) {
            (facts.xmpBytes, facts.xmpFitsJPEG) = (xmp.count, ExtendedXMP.split(xmp) != nil)
        }
        if iptc(of: image).flatMap({ IPTC.records(in: $0) }) != nil {
            facts.holdersOfIPTC = format == .png ? [.jpeg, .tiff, .png] : [.jpeg, .tiff]
        }
        facts.hasTexts =
            pngChunks.map { !$0.texts.isEmpty } ?? false
            || image.fieldNames.contains { PNGFurtherChunks.isText(field: $0) }
        if jxlBoxes?.lacksExif == true { facts.unreadable.insert(.exif) }
        if jxlBoxes?.lacksXMP == true { facts.unreadable.insert(.xmp) }
        return facts
    }
}
