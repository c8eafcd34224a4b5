public import Edits
public import Files
public import RenderPool
public import RenderProtocol
import Synchronization

extension RenderPool {
    /// Inspects and renders a photo or a movie, and accepts the results.
    ///
    /// - Parameters:
    ///   - files: the files of the request, including its outputs.
    ///   - makeFile: creates a file for a part of a movie; by default in memory, for small parts.
    ///   - progress: called with the finished share of a movie.
    ///   - reports: called with what the child reports while it renders.
    ///   - accept: checks the results while the child is still lent, so that a child whose results are rejected is
    ///     not used again.
    /// - Throws: a `Failure`, or `CancellationError` if the calling task was cancelled. The child is dead in both
    ///   cases.
    public func render<Result: Sendable>(
        _ request: PhotoRequest, _ files: RenderFiles, for borrower: Borrower,
        parts makeFile: @escaping @Sendable () throws(Failure) -> OpenFile = { () throws(Failure) in
            try .inMemory(name: "a part of the movie")
        },
        progress: @escaping @Sendable (MovieProgress) -> Void = { _ in },
        reports: @escaping @Sendable (RenderReply.Progress) -> Void = { _ in },
        _ accept: @escaping @Sendable (Inspection, RenderUse) async throws -> Result
    ) async throws -> Result {
        let inspection = try await inspect(request, files, for: borrower)
        let movie = MovieParts(
            pool: self, borrower: borrower, request: request, files: files, inspection: inspection)
        let (whole, partsUse) = try await movie.rendered(progress, into: makeFile)
        return try await lend(inspection.memoryBytes, to: borrower) { child in
            let video = DroppedVideo()
            let use = try await child.render(request, whole, as: inspection) { done in
                video.note(done)
                reports(done)
            }.after(partsUse)
            return try await accept(video.inspection(inspection), use)
        }
    }
}

/// Records from a render's progress that the video of a motion photo was dropped.
final class DroppedVideo: Sendable {
    private let reason = Mutex<String?>(nil)

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
