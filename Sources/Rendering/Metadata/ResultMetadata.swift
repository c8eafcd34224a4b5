import Codecs
import Edits
import Files
import PhotoFiles
import RenderProtocol

/// The metadata of a result: the original's metadata, updated for the result.
struct ResultMetadata {
    /// EXIF as a TIFF structure without `Exif\0\0`, or nil.
    let exif: [UInt8]?
    /// An XMP packet, or nil.
    let xmp: [UInt8]?
    let iptc: IPTC?
    /// The paths of cut-outs, if nothing moves.
    let paths: PhotoshopPaths?
    /// The fate of the texts of a PNG; nil if nothing is written.
    private var copies: FileTextCopies?
    /// The text of a PNG that has the IPTC that was written; nil if none was.
    private var iptcText: (key: String, text: String)?
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
    /// - Parameters:
    ///   - file: the source of metadata that libvips does not read: the EXIF of TIFF and RAW.
    ///   - output: what is written into the metadata.
    init(
        of original: Image, in file: PhotoFile, facts: PictureFacts, strip: Recipe.Strip,
        profile: [UInt8]?, writing output: Recipe.Output? = nil
    ) {
        self.profile = strip == .none ? profile : profile.map(PlacelessProfile.profile)
        let paths = facts.positions == .same ? file.photoshopPaths(of: original) : nil
        self.paths = paths?.kept(by: strip)
        if let output, output.writesMetadata {
            let own = file.metadata(of: original)
            let result = own.result(
                facts, as: output, exifMax: Self.exifMax(of: output.format ?? .jpeg))
            (exif, xmp, iptc) = (result.exif.map(Exif.withoutPrefix), result.xmp, result.iptc)
            texts = strip == .all ? [] : file.pngChunks?.texts ?? []
            copies = output.metadata.map { FileTextCopies($0, of: own.texts) }
            if strip != .all, let iptc, iptc != own.iptc, file.format == .png {
                iptcText = PNGFurtherChunks.text(of: iptc)
            }
            return
        }
        guard strip != .all else {
            (exif, xmp, iptc, texts) = (nil, nil, nil, [])
            return
        }
        var facts = facts
        facts.removesLocation = strip == .gps
        exif = file.exif(of: original).flatMap { Exif.revised($0, to: facts) }
            .map { Exif.withoutPrefix($0) }
        xmp = file.xmp(of: original).flatMap { XMP.revised($0, to: facts) }
        let records = file.iptc(of: original)
        iptc = facts.removesLocation ? records?.withoutCoordinates : records
        texts = file.pngChunks?.texts ?? []
    }

    /// The most bytes of EXIF in a format, as libvips and our encoders write it.
    private static func exifMax(of format: Recipe.Format) -> Int {
        Planner.exifMax(of: format, in: .stream) ?? .max
    }

    /// Returns what becomes of texts of the original; IPTC that is written anew is not among them.
    private func kept(
        _ texts: [(key: String, text: String)], _ strip: Recipe.Strip
    ) -> [(key: String, text: String)] {
        let places = Self.places(among: texts.map { $0.text }, strip)
        return texts.indices.compactMap { index -> (key: String, text: String)? in
            let (key, text) = texts[index]
            guard !places.contains(index), Self.isKept((key, text), by: strip),
                !(iptcText != nil && PNGFurtherChunks.isIPTC(key))
            else { return nil }
            guard let copies else { return (key, text) }
            return copies.text(key, text).map { (key, $0) }
        }
    }

    /// Which texts are a place together, where places are removed.
    private static func places(among texts: [String], _ strip: Recipe.Strip) -> Set<Int> {
        strip == .gps ? CoordinateText.places(in: texts.map { Array($0.utf8) }) : []
    }

    private func further(_ strip: Recipe.Strip) -> [(key: String, text: String)] {
        kept(texts, strip) + [iptcText].compactMap(\.self)
    }

    /// The texts that libvips has read.
    private func known(_ image: Image) -> [(field: String, key: String, text: String)] {
        image.fieldNames.compactMap { field in
            guard let key = PNGFurtherChunks.key(field: field), let text = image.string(field)
            else { return nil }
            return (field, key, text)
        }
    }

    /// Returns changes of a header after which a saver writes exactly this metadata.
    ///
    /// EXIF is complete only after ``ExifPlaceholder`` is filled.
    func changes(
        of image: Image, strip: Recipe.Strip, format: Recipe.Format, placeholder: ExifPlaceholder?
    ) -> [Image.MetadataChange] {
        var changes = image.fieldNames.map(Image.MetadataChange.remove)
        let read = known(image)
        let places = Self.places(among: read.map { $0.text }, strip)
        for (index, item) in read.enumerated() where !places.contains(index) {
            guard let text = kept([(item.key, item.text)], strip).first?.text else { continue }
            changes.append(.setString(item.field, text))
        }
        changes.append(.setInt(Field.orientation, 1))
        if let profile { changes.append(.setData(Field.profile, profile)) }
        if let xmp = format == .jpeg ? jpegXMP?.packet : xmp {
            changes.append(.setData(Field.xmp, xmp))
        }
        if let block = IPTC.photoshopBlock(iptc, paths), format == .jpeg {
            changes.append(.setData(Field.iptc, block))
        }
        if format == .png {
            changes += further(strip).enumerated().map {
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
        PNGMetadata(
            profile: profile, exif: exif, xmp: xmp,
            texts: kept(known(image).map { ($0.key, $0.text) }, strip) + further(strip))
    }

    /// About the bytes that a file of a format has of it, whatever its pixels are.
    func bytes(in format: Recipe.Format) -> Int {
        let common = (xmp?.count ?? 0) + (profile?.count ?? 0)
        let ofEXIF = exif?.count ?? 0
        switch format {
        case .tiff: return common + TIFFGraft.length(exif: exif, iptc: iptc, paths: paths)
        case .jpeg: return common + ofEXIF + (IPTC.photoshopBlock(iptc, paths)?.count ?? 0)
        case .png:
            let ofTexts = texts.reduce(0) { $0 + $1.key.utf8.count + $1.text.utf8.count }
            return common + ofEXIF + ofTexts + (iptc?.records.count ?? 0)
        default: return common + ofEXIF
        }
    }

    /// Whether a text of a PNG is kept. Programs without support for `eXIf` write EXIF and XMP as texts (`Raw profile type exif`), and
    /// ImageMagick also writes each tag (`exif:GPSLatitude`), so where places are removed, only texts of known meaning stay.
    private static func isKept(_ text: (key: String, text: String), by strip: Recipe.Strip) -> Bool
    {
        switch strip {
        case .none: !PNGFurtherChunks.isReadProfile(text.key)
        case .gps: PlacelessText.isPlaceless(text.key, text.text)
        case .all: false
        }
    }

    /// The segments of a JPEG, without EXIF or XMP that does not fit into one.
    var ofJPEG: [JPEGMarker] {
        JPEGMarker.of(exif: exif, xmp: xmp, profile: profile)
            + (IPTC.photoshopBlock(iptc, paths).flatMap { block in
                block.count <= JPEGMarker.bytesMax ? [JPEGMarker(code: 0xED, bytes: block)] : nil
            } ?? [])
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
    func iptc(of image: Image) -> IPTC? {
        (image.data("iptc-data") ?? pngChunks?.iptc ?? firstDirectory(.iptc)).flatMap {
            IPTC($0, resources: format == .tiff ? firstDirectory(.resources) : nil)
        }
    }

    /// Returns Photoshop's paths of a JPEG or TIFF.
    func photoshopPaths(of image: Image) -> PhotoshopPaths? {
        let block = format == .tiff ? firstDirectory(.resources) : image.data("iptc-data")
        return block.flatMap { PhotoshopPaths($0) }
    }

    func metadata(of image: Image) -> PhotoMetadata {
        PhotoMetadata(exif: exif(of: image), xmp: xmp(of: image), iptc: iptc(of: image))
    }

    /// Reads the photo's metadata; none of a movie.
    func metadata() throws(Failure) -> PhotoMetadata {
        if format == .movie { return PhotoMetadata() }
        guard let loader = format.loader else { return PhotoMetadata(exif: exifOfDirectories()) }
        do {
            return metadata(of: try open(with: loader, failOn: .truncated))
        } catch {
            throw Failure(reading: error, photo: name)
        }
    }

    /// Returns the XMP packet, with the extension that a JPEG may have.
    func xmp(of image: Image) -> [UInt8]? {
        let packet = image.data("xmp-data")
        switch format {
        case .jpeg:
            // libvips takes an extension that comes before the packet for the packet.
            let isPacket = packet.map { !ExtendedXMP.isPart($0) } ?? true
            guard let packet, !isPacket || ExtendedXMP.isNamed(in: packet) else { return packet }
            var window = window
            let segments = JPEGSegments(&window, at: 0)
            return segments?.wholeXMP ?? segments?.xmp ?? (isPacket ? packet : nil)
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

/// The facts of a photo's metadata that decide which formats hold them.
struct MetadataFacts: Sendable {
    var exifBytes = 0
    var xmpBytes = 0
    /// Whether the XMP fits into a JPEG, with an extension if it is large.
    var xmpFitsJPEG = true
    /// The formats that hold the photo's IPTC; nil if it has none. A PNG keeps that of a PNG as a text.
    var holdersOfIPTC: Set<Recipe.Format>?
    var hasTexts = false
    /// Whether it has paths of cut-outs.
    var hasPaths = false
    /// Whether it says where its Content Credentials are.
    var namesManifest = false
    /// EXIF and XMP that are there and cannot be read.
    var unreadable: Set<Companion> = []
}

extension PhotoFile {
    func metadataFacts(of image: Image) -> MetadataFacts {
        var facts = MetadataFacts()
        facts.exifBytes = exif(of: image).map { Exif.withoutPrefix($0).count } ?? 0
        if let xmp = xmp(of: image) {
            (facts.xmpBytes, facts.xmpFitsJPEG) = (xmp.count, ExtendedXMP.split(xmp) != nil)
            facts.namesManifest = XMP.namesManifest(xmp)
        }
        if iptc(of: image) != nil {
            facts.holdersOfIPTC = format == .png ? [.jpeg, .tiff, .png] : [.jpeg, .tiff]
        }
        facts.hasPaths = photoshopPaths(of: image) != nil
        facts.hasTexts =
            pngChunks.map { !$0.texts.isEmpty } ?? false
            || image.fieldNames.contains { PNGFurtherChunks.isText(field: $0) }
        if jxlBoxes?.lacksExif == true { facts.unreadable.insert(.exif) }
        if jxlBoxes?.lacksXMP == true { facts.unreadable.insert(.xmp) }
        return facts
    }
}

/// Adds the extension of an XMP packet to a finished JPEG. libvips writes one segment of XMP.
enum ExtendedXMPFile {
    /// Adds the segments after that of the packet.
    ///
    /// - Throws: `ioFailure`, `noSpace`, or `internalError` if the file has no packet.
    static func add(_ parts: [[UInt8]], to file: OpenFile) throws(Failure) {
        guard !parts.isEmpty else { return }
        var window = FileWindow(length: try file.length()) { file.bytes(from: $0, count: $1) }
        let segments = JPEGSegments(&window, at: 0)?.segments ?? []
        guard
            let packet = segments.first(where: {
                $0.code == 0xE1 && $0.content(after: JPEGSegments.xmpSignature) != nil
            })
        else {
            throw Failure(
                .internalError,
                "\(file.name) was written without the XMP packet that names an extension. Report it with the photo."
            )
        }
        let end = packet.contentOffset + packet.bytes.count
        let bytes = parts.flatMap { UltraHDR.bytes(0xE1, ExtendedXMP.signature + $0) }
        try file.move(from: end, by: bytes.count)
        try file.write(bytes, at: end)
    }
}

/// Appends EXIF and IPTC to a TIFF file. libvips writes neither of them correctly.
enum TIFFMetadataFile {
    /// Appends EXIF and IPTC. The new directory takes effect when its offset is written to the header.
    ///
    /// - Throws: `ioFailure` or `noSpace`.
    static func append(
        exif: [UInt8]?, iptc: IPTC?, paths: PhotoshopPaths?, to file: OpenFile
    ) throws(Failure) {
        let length = try file.length()
        let graft = TIFFGraft(exif: exif, iptc: iptc, paths: paths, length: length) {
            offset, count in
            file.bytes(from: offset, count: count)
        }
        guard let graft else { return }
        try file.write(graft.bytes, at: length)
        try file.write(graft.link, at: 4)
    }
}

/// Adds EXIF and XMP to a JPEG XL, as `Image.writeJXL` writes it.
///
/// Source: ISO/IEC 18181-2 §9: the signature box, `ftyp`, `jxll`, `Exif` (prefixed with the offset of its TIFF header), `xml ` and `jxlc`,
/// whose length 0 means "to the end of the file".
enum JXLContainer {
    private static let signature: [UInt8] =
        [0, 0, 0, 12] + Array("JXL ".utf8) + [13, 10, 0x87, 10]
    private static let type: [UInt8] =
        [0, 0, 0, 20] + Array("ftypjxl ".utf8) + [0, 0, 0, 0] + Array("jxl ".utf8)
    private static let codestreamMark: [UInt8] = [0xFF, 0x0A]

    /// Returns the bytes before the codestream.
    static func head(exif: [UInt8]?, xmp: [UInt8]?) -> [UInt8] {
        signature + type + boxes(exif: exif, xmp: xmp) + [0, 0, 0, 0] + Array("jxlc".utf8)
    }

    private static func boxes(exif: [UInt8]?, xmp: [UInt8]?) -> [UInt8] {
        (exif.map { box("Exif", [0, 0, 0, 0] + $0) } ?? []) + (xmp.map { box("xml ", $0) } ?? [])
    }

    private static func box(_ name: String, _ content: [UInt8]) -> [UInt8] {
        let length = UInt32(content.count + 8)
        return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> $0) }
            + Array(name.utf8) + content
    }

    /// Adds EXIF and XMP to a file: a bare codestream is wrapped, and a container of libjxl, which it writes where a codestream needs
    /// a higher level, such as 16 bits with alpha, gets boxes behind its head. What follows is moved up to make room, from its end
    /// on.
    ///
    /// - Throws: `ioFailure`, `noSpace`, or `internalError` if the file is neither.
    static func wrap(_ file: OpenFile, exif: [UInt8]?, xmp: [UInt8]?) throws(Failure) {
        if file.bytes(from: 0, count: 2) == codestreamMark {
            let head = head(exif: exif, xmp: xmp)
            try file.move(from: 0, by: head.count)
            try file.write(head, at: 0)
            return
        }
        guard file.bytes(from: 0, count: signature.count) == signature else {
            throw Failure(.internalError, "\(file.name) is no JPEG XL.")
        }
        let boxes = boxes(exif: exif, xmp: xmp)
        let start = endOfHead(file)
        try file.move(from: start, by: boxes.count)
        try file.write(boxes, at: start)
    }

    /// The boxes that must precede all others: the file's type, and the level of the codestream.
    private static let headTypes = ["ftyp", "jxll"].map { Array($0.utf8) }

    /// Returns the end of the boxes that must precede all others.
    private static func endOfHead(_ file: OpenFile) -> Int {
        var offset = signature.count
        while true {
            let box = file.bytes(from: offset, count: 8)
            guard box.count == 8, headTypes.contains(Array(box[4...])) else { return offset }
            let length = box[..<4].reduce(0) { $0 << 8 | Int($1) }
            guard length >= 8 else { return offset }
            offset += length
        }
    }
}
