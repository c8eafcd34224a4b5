import Edits
import PhotoFiles
import Codecs

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
