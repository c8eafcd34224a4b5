import Edits
import RenderProtocol
import Synchronization

/// Records from a render's progress that the video of a motion photo was dropped.
final class DroppedVideo: Sendable {
    private let reason = Mutex<String?>(nil)

    /// Records a progress message.
    func note(_ progress: RenderReply.Progress) {
        guard case .droppedMotionVideo(let reason) = progress else { return }
        self.reason.withLock { $0 = reason }
    }

    /// Returns the inspection with the actual fate of the motion video. If the plan has no motion video, a child's
    /// message about a dropped one is ignored.
    func inspection(_ planned: Inspection) -> Inspection {
        guard let video = planned.plan.motionVideo, video.reason == nil else { return planned }
        return reason.withLock { $0 }.map(planned.droppingMotionVideo) ?? planned
    }
}
