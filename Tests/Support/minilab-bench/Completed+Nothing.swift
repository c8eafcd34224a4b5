import Edits
import JobQueue

extension JobEvent.Completed {
    /// Creates the event of a job without a render, of the size of a real event.
    init(ofNothing claim: Claim, by worker: String) {
        self.init(
            job: claim.job, asset: claim.asset, generation: claim.generation,
            attempt: claim.attempt, worker: worker, mode: .replace,
            version: JobEvent.Version(
                id: "\(claim.generation)-\(claim.fence)", revision: claim.generation,
                path: claim.asset),
            render: JobEvent.Render(
                mediaType: "image/jpeg", width: 6000, height: 4000, bytes: 1,
                sha256: String(repeating: "0", count: 64)),
            filters: [],
            timings: JobEvent.Timings(
                queuedMilliseconds: claim.queued / .milliseconds(1), renderMilliseconds: 0,
                cpuMilliseconds: 0),
            peakMemoryBytes: 0)
    }
}
