import Adjustments
import JPEG
import RenderProtocol

extension Planner {
    /// Returns the most bytes of EXIF and XMP that a lane writes into a JPEG. Planes are written by our code: a segment has 65,533
    /// bytes, including signatures of 6 and 29 bytes. libvips writes no more than its own limits (jpegsave, 8.14: XMP of 60,000).
    static func metadataMax(in lane: RenderPlan.Lane) -> (exif: Int, xmp: Int) {
        lane == .planes
            ? (JPEGMarker.bytesMax - 6, JPEGMarker.bytesMax - 29)
            : (ExifPlaceholder.bytesMax, 60_000)
    }

    /// Returns notes about metadata that do not fit into the result.
    static func metadataNotes(
        of companions: PhotoCompanions?, _ output: OutputPlan, _ lane: RenderPlan.Lane
    ) -> [String] {
        guard let companions, output.format == .jpeg, output.strip != .all else { return [] }
        let most = metadataMax(in: lane)
        return [("EXIF", companions.exifBytes, most.exif), ("XMP", companions.xmpBytes, most.xmp)]
            .filter { $0.1 > $0.2 }
            .map { name, bytes, most in
                "\(name) of \(bytes) bytes is left out: a JPEG takes \(most); ask for heic or png to keep it"
            }
    }
}
