import Adjustments
import RenderProtocol

extension Planner {
    /// The fate of the video of a motion photo.
    ///
    /// - Parameters:
    ///   - xmpMax: bytes of XMP that the lane writes into a JPEG.
    ///   - isCopied: whether the file is copied as it is.
    /// - Returns: nil for a photo that has none and claims none.
    static func motionVideo(
        _ video: MotionClip.Planned?, _ beside: Beside?, _ output: OutputPlan, _ xmpMax: Int,
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
            let kept = max(beside?.xmpBytes ?? 0, beside?.jpegXMPBytes ?? 0)
            // More than a lane writes is left out, and leaves all the room.
            guard output.format != .jpeg || !(xmpMax - claimsBytes...xmpMax).contains(kept) else {
                return .dropped(
                    reason: "the photo's XMP of \(kept) bytes leaves no room to say where it lies")
            }
            return clip.photo.plan.lane == .copy ? .carried : .edited
        }
    }

    /// Most bytes of what a photo's XMP says of the video and the gain map behind it, and of what grows in it besides.
    private static let claimsBytes = 2_048

    /// Whether a photo may be copied with its video: not where something is asked of that.
    static func mayCopy(_ video: MotionClip.Planned?, _ asked: Recipe.Movie) -> Bool {
        switch video {
        case .clip(let clip): clip.photo.plan.lane == .copy
        case .obstacle: !asked.mute && asked.codec == .source && asked.quality == nil
        case nil: true
        }
    }

    /// The things beside the photo that are not in the result.
    static func leftOut(
        _ beside: Beside?, _ video: MotionVideoOutcome?, isCopied: Bool
    ) -> [Companion] {
        guard !isCopied else { return [] }
        let others = (beside?.others ?? []).filter { $0 != .motionVideo }
        guard video?.reason != nil else { return others }
        return (others + [.motionVideo]).sorted { $0.rawValue < $1.rawValue }
    }
}
