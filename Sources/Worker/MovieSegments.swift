import Adjustments
import Files
import Library
import RenderProtocol
import Synchronization

/// Frames of a movie that are done, of all.
public struct MovieProgress: Sendable, Equatable {
    public let done: Int, frames: Int
}

/// The parts of a movie, rendered side by side as far as cores and memory allow; for a photo there is nothing to do.
///
/// A part is the same bytes whoever renders it and whatever runs beside it.
struct MovieSegments: Sendable {
    let pool: RenderPool
    let tenant: String
    /// Of the whole movie.
    let request: PhotoRequest
    /// The movie, and the files that its edit names.
    let files: RenderFiles
    /// The answer to the request.
    let inspection: Inspection
    /// Where parts are kept for whoever goes on after a crash; nil: nowhere.
    var kept: Kept?

    /// Parts of a movie in a library.
    struct Kept: Sendable {
        let library: any LibraryStore
        /// Of the whole movie.
        let key: RenderKey
    }

    /// Renders all parts.
    ///
    /// - Parameters:
    ///   - progress: told from time to time how much is done.
    ///   - place: makes a place for a part.
    /// - Returns: the request's files with the parts among them, and what they took.
    /// - Throws: what a part fails with; the others are ended then.
    func rendered(
        _ progress: @escaping @Sendable (MovieProgress) -> Void = { _ in },
        into place: @escaping @Sendable () throws(Failure) -> OpenFile
    ) async throws -> (RenderFiles, RenderUse) {
        guard let movie = inspection.plan.movie, movie.codec != nil else {
            return (files, RenderUse())
        }
        let done = FramesDone(of: movie, progress)
        let start = ContinuousClock.now
        var parts: [Int: (file: OpenFile, use: RenderUse)] = [:]
        try await withThrowingTaskGroup(of: (Int, OpenFile, RenderUse).self) { group in
            var next = 0
            while parts.count < movie.segments {
                while next < movie.segments, next - parts.count < pool.slots.share {
                    let number = next
                    group.addTask {
                        let (file, use) = try await render(number, movie, done, place)
                        return (number, file, use)
                    }
                    next += 1
                }
                guard let (number, file, use) = try await group.next() else { return }
                parts[number] = (file, use)
            }
        }
        var (files, use) = (files, RenderUse())
        for (_, part) in parts.sorted(by: { $0.key < $1.key }) {
            files.segments.append(part.file)
            use = part.use.after(use)
        }
        use.wallMilliseconds = (ContinuousClock.now - start) / .milliseconds(1)
        return (files, use)
    }

    private func render(
        _ number: Int, _ movie: MoviePlan, _ done: FramesDone,
        _ place: @escaping @Sendable () throws(Failure) -> OpenFile
    ) async throws -> (OpenFile, RenderUse) {
        let file = try await offPool(place)
        if try await find(number, into: file) {
            done.note(inspection.plan.movie.map { $0.frames / $0.segments } ?? 0, of: number)
            return (file, RenderUse())
        }
        var part = files
        (part.outputs, part.spool) = ([file], nil)
        let handed = part
        // As it was resolved when the movie was inspected: all parts get the same.
        let request = PhotoRequest(
            recipe: inspection.recipe, limits: request.limits, outputs: [.init(segment: number)],
            memoryMax: request.memoryMax, threads: 1)
        let use = try await pool.lend(movie.segment.memoryBytes, to: tenant) { child in
            try await child.render(request, handed, as: inspection) { told in
                if case .frames(let frames) = told { done.note(frames, of: number) }
            }
        }
        try await keep(file, number)
        return (file, use)
    }

    /// Whether a part was rendered before; it is in the file then.
    private func find(_ number: Int, into file: OpenFile) async throws(Failure) -> Bool {
        guard let kept, hasSeveral else { return false }
        return try await kept.library.readSegment(SegmentName(kept.key, number), into: file)
    }

    /// Keeps a part. A movie of one part is done when it is.
    private func keep(_ file: OpenFile, _ number: Int) async throws(Failure) {
        guard let kept, hasSeveral else { return }
        try await kept.library.keepSegment(file, as: SegmentName(kept.key, number))
    }

    private var hasSeveral: Bool { inspection.plan.movie.map { $0.segments > 1 } ?? false }
}

/// Counts the frames of parts that are rendered side by side.
private final class FramesDone: Sendable {
    private let movie: MoviePlan
    private let counts: Mutex<[Int: Int]> = Mutex([:])
    private let tell: @Sendable (MovieProgress) -> Void

    init(of movie: MoviePlan, _ tell: @escaping @Sendable (MovieProgress) -> Void) {
        (self.movie, self.tell) = (movie, tell)
    }

    /// Says how many frames of a part are done by now.
    func note(_ frames: Int, of segment: Int) {
        let sum = counts.withLock { counts in
            counts[segment] = max(frames, counts[segment] ?? 0)
            return counts.values.reduce(0, +)
        }
        tell(MovieProgress(done: min(sum, movie.frames), frames: movie.frames))
    }
}
