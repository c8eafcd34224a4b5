import Edits
import Codecs
import RenderProtocol

extension Planner {
    /// Returns the most bytes of EXIF that a lane writes into a format; nil for formats without a limit. Planes are written by our
    /// code: a segment has 65,533 bytes, including a signature of 6 bytes. libvips writes no more than its own limit.
    static func exifMax(of format: Recipe.Format, in lane: RenderPlan.Lane) -> Int? {
        switch format {
        case .jpeg: lane == .planes ? JPEGMarker.bytesMax - 6 : ExifPlaceholder.bytesMax
        case .webp, .avif: ExifPlaceholder.bytesMax
        case .png, .tiff, .heic, .jxl, .mov, .mp4: nil
        }
    }

    /// Returns notes about metadata that do not fit into the result.
    static func metadataNotes(
        of companions: PhotoCompanions?, _ output: OutputPlan, _ lane: RenderPlan.Lane
    ) -> [String] {
        guard let metadata = companions?.metadata, lane != .copy, output.strip != .all else {
            return []
        }
        var notes: [String] = []
        if let most = exifMax(of: output.format, in: lane), metadata.exifBytes > most {
            notes.append(
                "EXIF of \(metadata.exifBytes) bytes is left out: a \(output.format.rawValue) takes \(most); ask for heic or png to "
                    + "keep it")
        }
        if output.format == .jpeg, !metadata.xmpFitsJPEG {
            notes.append(
                "XMP of \(metadata.xmpBytes) bytes is left out: a JPEG takes no property of that size; ask for heic or png to "
                    + "keep it")
        }
        return notes
    }
}
