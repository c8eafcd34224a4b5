import Adjustments
import RenderProtocol

extension Planner {
    /// Returns the outcome for the video of a motion photo.
    ///
    /// - Parameters:
    ///   - xmpMax: bytes of XMP that the lane writes into a JPEG.
    ///   - isCopied: whether the file is copied unchanged.
    /// - Returns: nil for a photo that has no video and claims none.
    static func motionVideo(
        _ video: MotionClip.Planned?, _ companions: PhotoCompanions?, _ output: OutputPlan,
        _ xmpMax: Int,
        isCopied: Bool
    ) -> MotionVideoOutcome? {
        guard let video else { return nil }
        if isCopied { return .carried }
        guard [.jpeg, .heic].contains(output.format) else {
            return .dropped(reason: "a \(output.format.rawValue) holds no video")
        }
        switch video {
        case .obstacle(let reason): return .dropped(reason: reason)
        case .clip(let clip):
            let kept = max(companions?.xmpBytes ?? 0, companions?.jpegXMPBytes ?? 0)
            // XMP beyond the lane's limit is dropped, which leaves enough room.
            guard output.format != .jpeg || !(xmpMax - claimsBytes...xmpMax).contains(kept) else {
                return .dropped(
                    reason: "the photo's XMP of \(kept) bytes leaves no room to say where it lies")
            }
            return clip.photo.plan.lane == .copy ? .carried : .edited
        }
    }

    /// The most bytes of XMP that describe the video and the gain map behind the photo, and by which the XMP may grow otherwise.
    private static let claimsBytes = 2_048

    /// Whether a photo may be copied with its video: only if the recipe requests no change of the video.
    static func mayCopy(_ video: MotionClip.Planned?, _ asked: Recipe.Movie) -> Bool {
        switch video {
        case .clip(let clip): clip.photo.plan.lane == .copy
        case .obstacle: !asked.mute && asked.codec == .source && asked.quality == nil
        case nil: true
        }
    }

    /// Returns the contents beside the photo that the result omits.
    static func leftOut(
        _ companions: PhotoCompanions?, _ video: MotionVideoOutcome?, isCopied: Bool
    ) -> [Companion] {
        guard !isCopied else { return [] }
        let others = (companions?.others ?? []).filter { $0 != .motionVideo }
        guard video?.reason != nil else { return others }
        return (others + [.motionVideo]).sorted { $0.rawValue < $1.rawValue }
    }
}
