import MinilabTesting
import PhotoFiles
import Testing

@testable import Codecs
@testable import Rendering

/// An AVIF whose only word about its colours are numbers of H.273, in a box of its own.
///
/// libaom codes the picture; the file around it is made here, because libheif writes that box in some versions and not in others.
enum CodedAVIF {
    static func bytes(
        of image: Image, primaries: Int, transfer: Int, _ studio: Studio
    ) throws -> [UInt8] {
        let path = studio.path("uncoded.avif")
        try image.writeAVIF(to: path, quality: 100, bits: 8, chroma: .off)
        let file = try Picture.file(path)
        var window = FileWindow(file)
        let meta = try #require(HEIFMeta(of: &window))
        let item = try #require(meta.primary)
        var configuration: [UInt8] = []
        for case .other("av1C", let content) in meta.properties(of: item) {
            configuration = Array(content)
        }
        let extent = try #require(meta.locations[item]?.extents.first)
        let unit = file[extent.offset...].prefix(try #require(extent.length))
        var avif = SyntheticHEIC(
            .init(
                configuration: configuration, unit: Array(unit), width: image.width,
                height: image.height))
        avif.codec = .av1
        // The matrix and the range that libheif codes with where nobody asks for others: BT.601, all codes.
        avif.properties = [
            Bytes.box(
                "colr",
                Bytes.text("nclx") + Bytes.big(primaries, 2) + Bytes.big(transfer, 2)
                    + Bytes.big(6, 2) + [0x80])
        ]
        return avif.bytes
    }
}
