import Edits
import PhotoFiles
import Codecs
import RenderProtocol

/// Writes the photo of a HEIC row by row, from top to bottom, in the layout that phones write: tiles of HEVC, alpha likewise, and a
/// thumbnail.
///
/// Memory: one row of tiles. Measurements are in MEASURED.md beside this file.
final class HEICEncoder: RowEncoder {
    private let file: HEICFile
    private let shape: EncodedShape
    private let colours: HEICPictureEncoder
    private let alpha: HEICPictureEncoder?
    /// Items that wait for their tiles, in tile order.
    private var colourItems, alphaItems: ArraySlice<Int>
    private let thumbnailItem: Int?

    private static let alphaName = "urn:mpeg:hevc:2015:auxid:1"

    /// Adds the photo to a file as its primary item.
    ///
    /// - Parameter profile: an ICC profile, or nil for sRGB.
    /// - Throws: `outOfMemory`, or `internalError` if x265 is not available.
    init(
        _ shape: EncodedShape, _ output: OutputPlan, profile: [UInt8]?, in file: HEICFile
    ) throws(Failure) {
        self.shape = shape
        self.file = file
        var coding = output.heicCoding
        // H.273: primaries of BT.709, the curve of sRGB.
        if profile == nil { (coding.primaries, coding.transfer) = (1, 13) }
        let ofLuma = coding.ofLuma
        let colour = profile.map { HEIFProperty.profile($0[...]) } ?? .codedColour(coding.colour)
        func encoder(
            _ samples: HEICSamples, _ coding: HEICCoding, _ colour: [HEIFProperty],
            hasThumbnail: Bool
        ) throws(Failure) -> HEICPictureEncoder {
            do throws(HEICError) {
                return try HEICPictureEncoder(
                    width: shape.width, height: shape.height, bands: shape.bands, samples, coding,
                    colour: colour, hasThumbnail: hasThumbnail)
            } catch {
                throw Failure(error)
            }
        }
        colours = try encoder(.colour, coding, [colour], hasThumbnail: true)
        alpha = shape.bands == 4 ? try encoder(.one(3), ofLuma, [], hasThumbnail: false) : nil
        file.boxes.brands = Self.brands(colours.picture, coding)
        let photo = file.boxes.add(colours.picture)
        file.boxes.primary = photo.item
        colourItems = photo.coded[...]
        if let alpha {
            let added = file.boxes.add(
                alpha.picture, isHidden: true, properties: [.auxiliary(Self.alphaName)])
            file.boxes.refer("auxl", from: added.item, to: [photo.item])
            alphaItems = added.coded[...]
        } else {
            alphaItems = []
        }
        if let thumbnail = colours.thumbnail {
            let item = file.boxes.add(thumbnail.picture).item
            file.boxes.refer("thmb", from: item, to: [photo.item])
            thumbnailItem = item
        } else {
            thumbnailItem = nil
        }
    }

    /// The brands that readers must know: the brands that phones write, minus those that some readers do not know (ISO/IEC 23008-12
    /// §B.4, 23000-22 §10).
    private static func brands(_ picture: HEIFCodedPicture, _ coding: HEICCoding) -> [String] {
        guard coding.bits == 8, coding.chroma == .half else { return ["heix", "mif1"] }
        // MIAF requires a grid to have whole chroma samples.
        guard picture.width % 2 == 0, picture.height % 2 == 0 else { return ["heic", "mif1"] }
        return ["heic", "mif1", "MiHB", "MiHE", "miaf"]
    }

    func append(_ row: UnsafeRawBufferPointer) throws(Failure) {
        guard let pixels = row.baseAddress else { return }
        for tile in try coded(pixels, by: colours) {
            if let item = colourItems.popFirst() { try file.append(tile, of: item) }
        }
        guard let alpha else { return }
        for tile in try coded(pixels, by: alpha) {
            if let item = alphaItems.popFirst() { try file.append(tile, of: item) }
        }
    }

    private func coded(
        _ pixels: UnsafeRawPointer, by encoder: HEICPictureEncoder
    ) throws(Failure) -> [[UInt8]] {
        do throws(HEICError) {
            return try encoder.append(pixels)
        } catch {
            throw Failure(error)
        }
    }

    func finish() throws(Failure) {
        guard let item = thumbnailItem, let thumbnail = colours.thumbnail else { return }
        let bytes: [UInt8]
        do throws(HEICError) {
            bytes = try thumbnail.coded()
        } catch {
            throw Failure(error)
        }
        try file.append(bytes, of: item)
    }
}

extension OutputPlan {
    /// The coding of a HEIC. The meaning of its colours is left to its profile.
    var heicCoding: HEICCoding {
        HEICCoding(
            chroma: chroma == .half ? .half : .full, bits: bitDepth.rawValue,
            rate: EncoderQuality.rate(quality))
    }
}

extension HEICCoding {
    /// The same coding for a picture of luma only.
    var ofLuma: HEICCoding {
        var coding = self
        coding.chroma = .none
        return coding
    }
}

extension Failure {
    init(_ error: HEICError) {
        switch error {
        case .codec(let codec):
            self.init(codec.kind == .memory ? .outOfMemory : .internalError, "HEIC: \(codec).")
        case .contradiction(let reason), .unsupported(let reason):
            self.init(.internalError, "HEIC: \(reason).")
        }
    }
}
