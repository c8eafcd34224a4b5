import Boxes
import Codecs

/// Codes tiles of one size, each as a picture that stands by itself.
///
/// x265 marks pictures by how many it has coded before, in a bit that means nothing in them. So that bytes depend on the
/// tile's place alone, a ``TileEncoder`` codes a given run of tiles and is made anew for the next.
final class TileEncoder {
    private let encoder: VideoEncoder
    private var coded = 0

    /// The content of `hvcC`, the same for all encoders of a coding and size.
    let configuration: HEVCConfiguration

    /// Tiles that one encoder codes: opening it takes as long as a tenth of a tile of 512 × 512.
    static let runLength = 4

    init(_ coding: HEICCoding, width: Int, height: Int) throws(CodecError) {
        encoder = try VideoEncoder(.hevc, coding.settings(width: width, height: height))
        let configuration = HEVCConfiguration(
            parameterSets: encoder.parameterSets, chromaFormat: coding.chroma.rawValue,
            bits: coding.bits)
        guard let configuration else {
            throw CodecError(kind: .unsupported, step: "find the parameter sets")
        }
        self.configuration = configuration
    }

    /// Codes a tile.
    ///
    /// - Parameter fill: writes its planes.
    /// - Returns: its units, each behind its length in four bytes.
    func code(_ fill: ([VideoEncoder.Plane]) -> Void) throws(CodecError) -> [UInt8] {
        try encoder.send(rank: coded, isKey: true, fill)
        coded += 1
        guard let packet = try encoder.receive() else {
            throw CodecError(kind: .unsupported, step: "encode a picture at once")
        }
        return packet.sample
    }
}
