import PhotoFiles
import Edits
import FoundationEssentials
import RenderProtocol

extension FuzzTarget {
    /// Checks that reading any header takes at most a few times the file's length.
    func readPhoto(_ bytes: Data) {
        let bytes = [UInt8](bytes)
        let head = Array(bytes.prefix(PhotoFormat.sniffedBytes))
        let sniffed = PhotoFormat(sniffing: head) { TIFFBytes.FirstDirectory(Self.reading(bytes)) }
        if sniffed == nil { _ = VideoContainer(sniffing: head) }
        var whole = FileWindow(length: bytes.count, Self.reading(bytes))
        if let map = JPEGCompanions(&whole)?.map {
            let range = map.jpeg ?? 0..<0
            precondition(range.lowerBound > 0 && range.upperBound <= bytes.count)
            precondition(GainMapMetadata(iso: map.metadata.iso) == map.metadata)
        }
        // If no format is recognised, every reader is tried: with a few more bytes, the input might have been recognised.
        for format in sniffed.map({ [$0] }) ?? PhotoFormat.allCases {
            var read = 0
            let reading = Self.reading(bytes)
            let file = FileWindow(length: bytes.count) { offset, count in
                let part = reading(offset, count)
                read += part.count
                return part
            }
            let survey = PhotoSurvey(format, file, limits: RenderLimits())
            precondition(read <= Self.readsMax * (bytes.count + Self.jumpBytes))
            precondition(survey.profileBytes >= 0 && survey.metadataBytes >= 0)
            // Some inputs are rejected, which is the expected outcome.
            try? survey.check("the photo")
        }
    }

    /// The most reads of a byte on average: a HEIF box is searched for its nested boxes, and then each nested box is read.
    private static let readsMax = 64
    /// Bytes that are read after a jump; a small file is read whole each time.
    private static let jumpBytes = 4_096

    private static func reading(_ bytes: [UInt8]) -> (Int, Int) -> [UInt8] {
        { offset, count in
            guard offset >= 0, offset < bytes.count, count > 0 else { return [] }
            return Array(bytes[offset..<min(bytes.count, offset + count)])
        }
    }

    private static let facts = [
        PictureFacts(size: PixelSize(width: 400, height: 300)),
        PictureFacts(
            size: PixelSize(width: 70_000, height: 1), removesLocation: true, newColourIsSRGB: false
        ),
    ]

    /// Checks that updated EXIF does not grow, and that EXIF extracted from directories is valid EXIF.
    func readExif(_ bytes: Data) {
        let bytes = [UInt8](bytes)
        _ = AppleMakerNote.contentIdentifier(inEXIF: bytes)
        for facts in Self.facts {
            let revised = Exif.revised(bytes, to: facts)
            precondition(revised.map { $0.count <= bytes.count } ?? true)
        }
        guard let directories = ExifDirectories(Self.reading(bytes)) else { return }
        let standalone = directories.standalone()
        precondition(ExifDirectories(Self.reading(standalone)) != nil)
        // A TIFF with one empty directory.
        let file = Array("II*\0".utf8) + [8, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        _ = TIFFGraft(
            exif: bytes, iptc: IPTC(records: bytes, digest: bytes), length: file.count,
            Self.reading(file))
        _ = TIFFGraft(exif: standalone, iptc: nil, length: bytes.count, Self.reading(bytes))
    }

    /// Checks that updated XMP does not change when it is updated again.
    func readXMP(_ bytes: Data) {
        let bytes = [UInt8](bytes)
        _ = XMP.hasGainMap(bytes)
        if let metadata = GainMapMetadata(hdrgm: bytes) {
            precondition(GainMapMetadata(iso: metadata.iso) == metadata)
        }
        for facts in Self.facts {
            guard let revised = XMP.revised(bytes, to: facts) else { return }
            precondition(XMP.revised(revised, to: facts) == revised)
        }
    }

    /// Checks that records survive the block into which they are written.
    func readIPTC(_ bytes: Data) {
        guard let iptc = IPTC([UInt8](bytes)) else { return }
        precondition(IPTC(iptc.photoshopBlock) == iptc)
    }

    /// Reads the boxes of a HEIF and of a movie.
    func readBoxes(_ bytes: Data) {
        let bytes = [UInt8](bytes)
        var file = FileWindow(length: bytes.count, Self.reading(bytes))
        _ = MovieIdentifier.identifier(in: file)
        let meta = HEIFMeta(of: &file)
        // The input may also be the box's content: with a few more bytes it would have been a file.
        for meta in [meta, HEIFMeta(bytes)].compactMap(\.self) {
            _ = HEIFColour(meta)
            readStill(meta, &file)
            if let map = HEIFCompanions(meta, in: &file).map {
                precondition(map.width > 0 && map.height > 0)
                precondition(GainMapMetadata(iso: map.metadata.iso) == map.metadata)
            }
            for item in meta.items.keys.prefix(8) {
                _ = meta.properties(of: item)
                _ = meta.items(from: item, by: "dimg")
                _ = meta.items(to: item, by: "auxl")
            }
        }
    }

    /// Checks that the decoded bytes of a HEIC are in the file, and that the shown part is in the picture.
    private func readStill(_ meta: HEIFMeta, _ file: inout FileWindow) {
        do throws(HEIFProblem) {
            let still = try HEIFStill(meta, in: &file)
            let (picture, shown) = (still.picture, still.placement)
            precondition(picture.tiles.joined().allSatisfy { $0.upperBound <= file.length })
            precondition(picture.tiles.count == picture.columns * picture.rows)
            precondition(shown.left >= 0 && shown.left + shown.codedWidth <= picture.width)
            precondition(shown.top >= 0 && shown.top + shown.codedHeight <= picture.height)
        } catch {
            precondition(!error.description.isEmpty)
        }
    }
}
