import Adjustments
import JPEG
import RenderProtocol

extension Planner {
    /// Returns the most bytes of EXIF that a lane writes into a JPEG. Planes are written by our code: a segment has 65,533 bytes,
    /// including a signature of 6 bytes. libvips writes no more than its own limit.
    static func exifMax(in lane: RenderPlan.Lane) -> Int {
        lane == .planes ? JPEGMarker.bytesMax - 6 : ExifPlaceholder.bytesMax
    }

    /// Returns notes about metadata that do not fit into the result.
    static func metadataNotes(
        of companions: PhotoCompanions?, _ output: OutputPlan, _ lane: RenderPlan.Lane
    ) -> [String] {
        guard let companions, output.format == .jpeg, output.strip != .all else { return [] }
        let most = exifMax(in: lane)
        var notes: [String] = []
        if companions.exifBytes > most {
            notes.append(
                "EXIF of \(companions.exifBytes) bytes is left out: a JPEG takes \(most); ask for heic or png to keep it"
            )
        }
        if !companions.xmpFitsJPEG {
            notes.append(
                "XMP of \(companions.xmpBytes) bytes is left out: a JPEG takes no property of that size; ask for heic or png to "
                    + "keep it")
        }
        return notes
    }
}
