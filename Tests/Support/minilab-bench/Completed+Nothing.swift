import Edits
import JobQueue

extension JobEvent.Completion {
    /// Creates the event of a job without a render, of the size of a real event.
    init(ofNothing claim: Claim) {
        self.init(
            mode: .replace,
            version: .init(
                id: "\(claim.generation)-\(claim.fence)", revision: claim.generation,
                at: .init(path: claim.asset)),
            render: .init(
                MadeFile(
                    mediaType: "image/jpeg", size: PixelSize(width: 6000, height: 4000), bytes: 1,
                    sha256: String(repeating: "0", count: 64)), Companions()),
            filters: [], timings: .init(queuedMilliseconds: claim.queued / .milliseconds(1)))
    }
}
