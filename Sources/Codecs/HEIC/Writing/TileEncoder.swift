import PhotoFiles

/// Encodes tiles of one size, each as an independent picture.
///
/// x265 marks pictures with a bit of their running number, which has no meaning in them. So that bytes depend only on the tile's
/// place, a ``TileEncoder`` encodes a fixed run of tiles and is replaced for the next run.
final class TileEncoder {
    private let encoder: VideoEncoder
    private var coded = 0

    /// The content of `hvcC`, the same for all encoders of a coding and size.
    let configuration: HEVCConfiguration

    /// Tiles that one encoder encodes: opening it takes as long as a tenth of a tile of 512 × 512.
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

    /// Encodes a tile.
    ///
    /// - Parameter fill: writes its planes.
    /// - Returns: its NAL units, each preceded by its length in four bytes.
    func code(_ fill: ([VideoEncoder.Plane]) -> Void) throws(CodecError) -> [UInt8] {
        try encoder.send(rank: coded, isKey: true, fill)
        coded += 1
        guard let packet = try encoder.receive() else {
            throw CodecError(kind: .unsupported, step: "encode a picture at once")
        }
        return packet.sample
    }
}
