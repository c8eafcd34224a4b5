import PhotoFiles
import RenderProtocol
import Codecs

extension PhotoFile {
    /// Returns the number of rows that the decoder makes together; see ``PhotoHeader/rowsAtOnce``.
    func rowsAtOnce(in image: Image) -> Int {
        let isWhole: Bool
        switch format {
        case .jpeg: isWhole = image.int("jpeg-multiscan") == 1
        case .png: isWhole = image.int("interlaced") == 1
        case .heif: return image.int(HEIFStill.rowsField) ?? image.height
        case .webp, .gif, .jxl, .raw, .movie: isWhole = true
        case .tiff:
            let rows = (rowsOfBlocks ?? Self.unknownBlockRows) * storedSize(of: image)
            return max(1, min(rows, image.height))
        }
        return isWhole ? image.height : 1
    }

    /// Whether it is a TIFF with uncompressed pixels (TIFF 6.0 §8, Compression 1).
    var isUncompressed: Bool { survey?.tiff?[.compression] == 1 }

    /// Height of a TIFF's tiles or strips; nil if its directory does not contain it.
    private var rowsOfBlocks: Int? {
        guard let picture = survey?.tiff else { return nil }
        return picture[.tileHeight] ?? picture[.rowsPerStrip]
    }

    /// Returns how many times larger stored pixels are than those of the picture: our reader keeps rows of tiles as they are stored,
    /// such as floating-point numbers of 64 bits.
    private func storedSize(of image: Image) -> Int {
        guard let picture = survey?.tiff, picture.needsOwnReader else { return 1 }
        return max(1, picture.samples * (picture.bits ?? 8) / (8 * image.bytesPerPixel))
    }

    /// An upper bound: tiles of most programs are lower.
    private static let unknownBlockRows = 512
}
