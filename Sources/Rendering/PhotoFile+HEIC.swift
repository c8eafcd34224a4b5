import Edits
import PhotoFiles
import Codecs
import RenderProtocol

extension PhotoFile {
    /// Reads the boxes of a HEIF; nil if it contains no HEVC, or if libheif reads it (AVIF).
    ///
    /// - Throws: `damagedPhoto`, or `unsupportedFormat` for kinds of pictures that no phone writes.
    func hevcStill() throws(Failure) -> HEIFStill? {
        guard format == .heif else { return nil }
        var window = window
        // libheif rejects a file without a list of pictures.
        guard let meta = HEIFMeta(of: &window), !HEIFStill.isAV1(meta) else { return nil }
        do throws(HEIFProblem) {
            return try HEIFStill(meta, in: &window)
        } catch {
            let code: FailureCode = error.kind == .damaged ? .damagedPhoto : .unsupportedFormat
            throw Failure(code, rendering: name, "HEIF: \(error)")
        }
    }

    /// Returns the turn by which the decoder makes the photo upright, as EXIF states it: positions in its metadata are those of the
    /// picture before. Metadata without such a turn describe the upright picture.
    func decoderTurn() -> Orientation {
        turnedExif().flatMap { Exif.orientation($0) }.flatMap { Orientation(rawValue: $0) }
            ?? .upright
    }

    /// Returns the EXIF of a photo that its decoder turns or mirrors; nil for others.
    private func turnedExif() -> [UInt8]? {
        if format == .jxl { return survey?.isTurned == true ? jxlBoxes?.exif : nil }
        // The decoder reports a fault in the boxes.
        if let still = try? hevcStill() { return still.placement.isTurned ? still.exif : nil }
        var window = window
        guard format == .heif, let meta = HEIFMeta(of: &window), let primary = meta.primary,
            meta.properties(of: primary).contains(where: \.isTurn)
        else { return nil }
        return HEIFStill.exif(of: primary, meta, in: &window)
    }
}

extension HEIFStill {
    /// The header field with the number of rows that are decoded together.
    static let rowsField = "minilab-rows-at-once"
    /// The header field with the horizontal shift of chroma and, times 16, the vertical one; absent without chroma.
    static let chromaField = "minilab-chroma"

    /// Returns the chroma sampling by the header.
    static func chroma(of image: Image) -> Recipe.Chroma? {
        switch image.int(chromaField) {
        case 0x11: .half
        case 0x01: .halfColumns
        case .some: .full
        case nil: nil
        }
    }

    /// Returns the upright picture with its metadata; rows of tiles are decoded on demand.
    ///
    /// - Throws: `VipsError` or `Failure`.
    func image(_ photo: PhotoFile) throws -> Image {
        let rows: HEICRows
        do throws(HEICError) {
            rows = try HEICRows(self, in: photo.window)
        } catch {
            throw Failure(error, photo: photo.name)
        }
        let isEight = bitsPerSample == 8
        let picture = RegionPicture(
            width: rows.width, height: rows.height, bands: rows.bands,
            format: isEight ? .uchar : .ushort, interpretation: isEight ? "srgb" : "rgb16")
        let image = try Image.suppliedRows(picture) { row in
            do throws(HEICError) {
                try rows.makeRow(into: row)
                return nil
            } catch {
                return error.message
            }
        }
        var fields: [Image.MetadataChange] = [
            .setInt(Self.rowsField, rowsAtOnce), .setInt("n-pages", pictures),
        ]
        if let shift = chromaShift {
            fields.append(.setInt(Self.chromaField, shift.x | shift.y << 4))
        }
        if let exif { fields.append(.setData("exif-data", Array("Exif\0\0".utf8) + exif)) }
        if let xmp { fields.append(.setData("xmp-data", xmp)) }
        if let profile { fields.append(.setData("icc-profile-data", profile)) }
        return try image.changing(fields)
    }
}

extension Failure {
    /// The failure for an error while a HEIC is decoded.
    init(_ error: HEICError, photo: String) {
        let message = error.message
        self.init(Self.code(operation: "heifload", text: message), rendering: photo, message)
    }
}

extension HEICError {
    /// The message by which ``Failure/code(operation:text:)`` classifies failures.
    fileprivate var message: String { "heif: \(self)" }
}

extension HEIFProperty {
    /// Whether it turns or mirrors the picture.
    fileprivate var isTurn: Bool {
        switch self {
        case .rotation(let quarterTurns): quarterTurns > 0
        case .mirror: true
        default: false
        }
    }
}
