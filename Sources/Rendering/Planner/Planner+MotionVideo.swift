import Edits
import RenderProtocol

extension Planner {
    /// Returns the outcome for the video of a motion photo.
    ///
    /// - Parameter isCopied: whether the file is copied unchanged.
    /// - Returns: nil for a photo that has no video and claims none.
    static func motionVideo(
        _ video: MotionClip.Planned?, _ output: OutputPlan, isCopied: Bool
    ) -> MotionVideoOutcome? {
        guard let video else { return nil }
        if isCopied { return .carried }
        guard [.jpeg, .heic].contains(output.format) else {
            return .dropped(reason: "a \(output.format.rawValue) holds no video")
        }
        switch video {
        case .obstacle(let reason): return .dropped(reason: reason)
        case .clip(let clip): return clip.photo.plan.lane == .copy ? .carried : .edited
        }
    }

    /// Whether a photo may be copied with its video: only if the recipe requests no change of the video.
    static func mayCopy(_ video: MotionClip.Planned?, _ asked: Recipe.Movie) -> Bool {
        switch video {
        case .clip(let clip): clip.photo.plan.lane == .copy
        case .obstacle: !asked.mute && asked.codec == .source && asked.quality == nil
        case nil: true
        }
    }

    /// Returns the contents beside the photo that the result omits.
    ///
    /// - Parameter moves: whether the photo's content is at other places in the result.
    static func leftOut(
        _ companions: PhotoCompanions?, _ video: MotionVideoOutcome?, _ output: OutputPlan,
        _ lane: RenderPlan.Lane, moves: Bool
    ) -> [Companion] {
        guard lane != .copy, let companions else { return [] }
        var others = Set(companions.others)
        others.remove(.motionVideo)
        if video?.reason != nil { others.insert(.motionVideo) }
        if output.strip == .all {
            // A loss that was asked for is not told.
            others.subtract([.xmp, .exif])
        } else {
            if companions.hasDepthInXMP, moves { others.insert(.depth) }
            if output.format == .jpeg, !companions.metadata.xmpFitsJPEG { others.insert(.xmp) }
            if let most = exifMax(of: output.format, in: lane), companions.metadata.exifBytes > most
            {
                others.insert(.exif)
            }
            others.formUnion(companions.metadata.unreadable)
            if companions.metadata.holdersOfIPTC?.contains(output.format) == false {
                others.insert(.iptc)
            }
            if companions.metadata.hasTexts, output.format != .png { others.insert(.texts) }
        }
        return others.sorted { $0.rawValue < $1.rawValue }
    }
}
