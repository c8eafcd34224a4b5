import Codecs
import Edits
import Files
import PhotoFiles

/// The gain map of a HEIC while it is written: a hidden auxiliary picture of the photo with its XMP, and the item `tmap`, which is
/// derived from both and preferred to the photo.
///
/// Sources: ISO/IEC 23008-12:2025 §6.6.2.4 (`tmap`) and ISO 21496-1. The auxiliary picture is for older readers and has the layout
/// that phones write.
final class HEICGainMap {
    private let map: EditedGainMap
    private let file: HEICFile
    private let encoder: HEICPictureEncoder
    private let xmpItem: Int
    private var coded: ArraySlice<Int>

    /// As good as the JPEG's: an error in a code is an error in light, and maps are small.
    private static let quality = 0.95

    /// Adds the items to a file that already has the photo.
    ///
    /// - Parameter size: the photo's size.
    /// - Throws: `outOfMemory`, or `internalError` if x265 is not available.
    init(_ map: EditedGainMap, size: PixelSize, in file: HEICFile) throws(Failure) {
        (self.map, self.file) = (map, file)
        let pixels = map.pixels
        // The codes have no colour space: 2 means unspecified in H.273.
        let coding = HEICCoding(
            chroma: pixels.channels == 1 ? .none : .full, bits: 8,
            rate: EncoderQuality.rate(Self.quality))
        do throws(HEICError) {
            encoder = try HEICPictureEncoder(
                width: pixels.width, height: pixels.height, bands: pixels.channels,
                pixels.channels == 1 ? .one(0) : .colour, coding,
                colour: [.codedColour(coding.colour)])
        } catch {
            throw Failure(error)
        }
        let photo = file.boxes.primary
        let added = file.boxes.add(
            encoder.picture, isHidden: true,
            properties: [.auxiliary(HEIFGainMap.name(of: map.metadata))])
        coded = added.coded[...]
        file.boxes.refer("auxl", from: added.item, to: [photo])
        xmpItem = file.boxes.addXMP(of: added.item)
        let toneMap = file.boxes.add(
            HEIFFile.Item(
                type: "tmap",
                properties: [
                    .codedColour(HEIFGainMap.alternateColour),
                    .size(width: size.width, height: size.height), .bits([10, 10, 10]),
                ], content: .itemData(map.metadata.tmap)))
        file.boxes.refer("dimg", from: toneMap, to: [photo, added.item])
        file.boxes.group("altr", [toneMap, photo])
        file.boxes.brands.append("tmap")
    }

    /// Writes the XMP and the tiles.
    ///
    /// - Throws: `noSpace`, `ioFailure`, or an error of the encoder.
    func write() throws(Failure) {
        try file.append(HEIFGainMap.packet(of: map.metadata), of: xmpItem)
        let rowSamples = map.pixels.width * map.pixels.channels
        for row in 0..<map.pixels.height {
            let samples = map.pixels.codes[row * rowSamples..<(row + 1) * rowSamples]
            var tiles: [[UInt8]] = []
            var problem: HEICError?
            samples.withUnsafeBytes { bytes in
                guard let start = bytes.baseAddress else { return }
                do throws(HEICError) {
                    tiles = try encoder.append(start)
                } catch {
                    problem = error
                }
            }
            if let problem { throw Failure(problem) }
            for tile in tiles {
                if let item = coded.popFirst() { try file.append(tile, of: item) }
            }
        }
    }
}

/// Appends a gain map and a video to a finished JPEG of any encoder, and describes them in its head.
enum UltraHDRFile {
    /// Joins the parts and updates all offsets.
    ///
    /// - Throws: `ioFailure`, `noSpace`, or `internalError` when the file is no JPEG.
    static func join(
        _ map: [UInt8]?, _ video: AttachedVideo? = nil, to file: OpenFile
    ) throws(Failure) {
        guard map != nil || video != nil else { return }
        let length = try file.length()
        var window = FileWindow(length: length) { file.bytes(from: $0, count: $1) }
        guard let photo = JPEGSegments(&window, at: 0) else {
            throw Failure(.internalError, "\(file.name) is no JPEG, so nothing can follow it.")
        }
        let attachments = Attachments(mapBytes: map?.count, video: video?.attachment)
        guard let head = UltraHDR.head(of: photo, length: length, attachments) else {
            throw Failure(
                .internalError,
                "\(file.name) has no room in its XMP for the description of its video. Keep the photo for a report."
            )
        }
        let added = head.bytes.count - head.replaced.count
        try file.move(from: head.replaced.upperBound, by: added)
        try file.write(head.bytes, at: head.replaced.lowerBound)
        try file.write(map ?? [], at: length + added)
        try video?.write(to: file, at: length + added + (map?.count ?? 0))
    }
}

extension OpenFile {
    private static let stepBytes = 1 << 20

    /// Inserts or removes bytes: moves all bytes after an offset up, the last ones first, or down.
    ///
    /// - Throws: `ioFailure`, `noSpace`.
    func move(from offset: Int, by count: Int) throws(Failure) {
        let length = try length()
        if count > 0 {
            var end = length
            while end > offset {
                let start = max(offset, end - Self.stepBytes)
                try move(start..<end, by: count)
                end = start
            }
        } else if count < 0 {
            var start = offset
            while start < length {
                let end = min(length, start + Self.stepBytes)
                try move(start..<end, by: count)
                start = end
            }
            try cut(to: length + count)
        }
    }

    private func move(_ range: Range<Int>, by count: Int) throws(Failure) {
        let bytes = bytes(from: range.lowerBound, count: range.count)
        guard bytes.count == range.count else {
            throw Failure(.ioFailure, "\(name) cannot be read back.")
        }
        try write(bytes, at: range.lowerBound + count)
    }
}

extension Geometry {
    /// Returns this geometry for a small copy of the source: a point at a fraction of the full result lies at the same fraction of
    /// the small one.
    ///
    /// Whole pixels of the photo are fractions of the copy's pixels, so sizes are rounded and positions are not. All maps between
    /// two pictures use fractions of their sides, so rounding errors do not accumulate from step to step.
    ///
    /// - Parameter small: the size of the copy or gain map, which may equal the size of this geometry's source.
    func seen(on small: PixelSize) -> Geometry {
        let target = small.shrunk(size, like: source, swapsSides: swapsSides)
        return .scaling(small, to: source).then(self).then(.scaling(size, to: target))
    }

    /// Returns the geometry that stretches a picture to another size.
    static func scaling(_ source: PixelSize, to size: PixelSize) -> Geometry {
        Geometry(
            of: source, size: size,
            toSource: Homography(
                affine: Double(source.width) / Double(size.width), 0, 0, 0,
                Double(source.height) / Double(size.height), 0))
    }
}

extension PixelSize {
    /// Returns the size of a small picture after the full one changed its size, at the same scale. It never has more pixels than
    /// before, because there is no more detail.
    fileprivate func shrunk(_ result: PixelSize, like source: PixelSize, swapsSides: Bool)
        -> PixelSize
    {
        let across = Double(width) / Double(source.width)
        let down = Double(height) / Double(source.height)
        let scale = swapsSides ? (x: down, y: across) : (x: across, y: down)
        let size = (Double(result.width) * scale.x, Double(result.height) * scale.y)
        let less = min(1, (Double(pixels) / (size.0 * size.1)).squareRoot())
        // Sides are rounded down if the result would have too many pixels. A picture has at least one pixel.
        let rule: FloatingPointRoundingRule = less < 1 ? .down : .toNearestOrAwayFromZero
        return PixelSize(
            width: max(1, Int((size.0 * less).rounded(rule))),
            height: max(1, Int((size.1 * less).rounded(rule))))
    }
}
