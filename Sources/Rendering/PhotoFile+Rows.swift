import Boxes
import Headers
import Metadata
import RenderProtocol
import Vips

extension PhotoFile {
    /// Returns the number of rows that the decoder makes together; see ``PhotoHeader/rowsAtOnce``.
    func rowsAtOnce(in image: Image) -> Int {
        let isWhole: Bool
        switch format {
        case .jpeg: isWhole = image.int("jpeg-multiscan") == 1
        case .png: isWhole = image.int("interlaced") == 1
        case .heif: return image.int(HEIFStill.rowsField) ?? image.height
        case .webp, .gif, .jxl, .raw, .movie: isWhole = true
        case .tiff: return max(1, min(rowsOfBlocks ?? Self.unknownBlockRows, image.height))
        }
        return isWhole ? image.height : 1
    }

    /// Whether it is a TIFF with uncompressed pixels (TIFF 6.0 §8, Compression 1).
    var isUncompressed: Bool { format == .tiff && firstDirectory()?[.compression] == 1 }

    /// Height of a TIFF's tiles or strips; nil if its directory does not contain it.
    private var rowsOfBlocks: Int? {
        guard let directory = firstDirectory() else { return nil }
        return directory[.tileLength] ?? directory[.rowsPerStrip]
    }

    /// An upper bound: tiles of most programs are lower.
    private static let unknownBlockRows = 512
}
