import Adjustments
import RenderProtocol
import Synchronization

/// Learns from a render's progress that the video of a motion photo had to be left out.
final class DroppedVideo: Sendable {
    private let reason = Mutex<String?>(nil)

    /// Takes what is told.
    func note(_ progress: RenderReply.Progress) {
        guard case .droppedMotionVideo(let reason) = progress else { return }
        self.reason.withLock { $0 = reason }
    }

    /// The fate that was planned, and the one that it came to. A photo that was planned without a video has lost none, whatever a child tells.
    func inspection(_ planned: Inspection) -> Inspection {
        guard let video = planned.plan.motionVideo, video.reason == nil else { return planned }
        return reason.withLock { $0 }.map(planned.droppingMotionVideo) ?? planned
    }
}
