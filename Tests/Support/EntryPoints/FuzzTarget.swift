public import FoundationEssentials

/// An entry point for untrusted bytes, with invariants that must hold for all inputs.
///
/// `minilab-fuzz` calls it with libFuzzer's inputs, and a test with the seeds beside it.
public enum FuzzTarget: String, CaseIterable, Sendable {
    /// A property list in the binary format.
    case binaryList = "binary-list"
    /// A property list as XML.
    case xmlList = "xml-list"
    /// A keyed archive.
    case keyedArchive = "keyed-archive"
    /// An `.AAE` file, and its edit opened by the editor that it names.
    case sidecar
    /// Adjustment data of any editor; the first line names the format.
    case adjustmentData = "adjustment-data"
    /// An edit in the form that producers send.
    case edit
    /// A photo's file, up to its pixels.
    case photoHeader = "photo-header"
    /// EXIF, also as a TIFF's directories.
    case exif
    /// An XMP packet.
    case xmp
    /// IPTC records, in Photoshop's block or bare.
    case iptc
    /// The boxes of a HEIF or a movie.
    case boxes
    /// A movie: its tables, its parts, and the movie with other samples.
    case movie
    /// The sample description of a movie's video track.
    case sampleDescription = "sample-description"
    /// A reply of a render child that a photo has taken over; the first line names the request.
    case renderReply = "render-reply"
    /// A text, and after its line the font that draws it.
    case text

    /// Reads the bytes.
    ///
    /// - Traps: if an invariant does not hold.
    public func read(_ bytes: Data) {
        switch self {
        case .binaryList, .xmlList: readList(bytes)
        case .keyedArchive: readArchive(bytes)
        case .sidecar: readSidecar(bytes)
        case .adjustmentData: readAdjustmentData(bytes)
        case .edit: readEdit(bytes)
        case .photoHeader: readPhoto(bytes)
        case .exif: readExif(bytes)
        case .xmp: readXMP(bytes)
        case .iptc: readIPTC(bytes)
        case .boxes: readBoxes(bytes)
        case .movie: readMovie(bytes)
        case .sampleDescription: readSampleDescription(bytes)
        case .renderReply: readRenderReply(bytes)
        case .text: readText(bytes)
        }
    }
}
