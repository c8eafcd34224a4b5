import Adjustments
import Files
import JobQueue
import Library
import RenderProtocol
import Synchronization

/// The parts of a movie, rendered side by side; for a photo there is nothing to do.
///
/// A part is the same bytes whoever renders it and whatever runs beside it. So the parts of a job's movie are offered to all
/// workers of the queue, this one among them, and the job renders one after another of those that nobody else does. Without
/// a queue they are rendered side by side here, as far as cores and memory allow.
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
        /// The task that other workers get with a part, and the desk where parts are offered; nil: no part is offered.
        var sharing: (task: PartTask, desk: JobDesk)?
    }

    /// Between two looks whether another worker has done its part.
    private static let pause = Duration.milliseconds(250)

    /// Renders all parts.
    ///
    /// - Parameters:
    ///   - progress: told from time to time how much is done.
    ///   - place: makes a place for a part.
    /// - Returns: the request's files with the parts among them, and what they took.
    /// - Throws: what a part fails with; the others are ended then.
    func rendered(
        _ progress: @escaping @Sendable (JobProgress) -> Void = { _ in },
        into place: @escaping @Sendable () throws(Failure) -> OpenFile
    ) async throws -> (RenderFiles, RenderUse) {
        guard let movie = inspection.plan.movie, movie.codec != nil else {
            return (files, RenderUse())
        }
        let done = FramesDone(of: movie, progress)
        let start = ContinuousClock.now
        let parts =
            if let desk = await share(movie) {
                try await besideOthers(movie, desk, done, place)
            } else { try await sideBySide(movie, done, place) }
        var (files, use) = (files, RenderUse())
        for part in parts {
            files.segments.append(part.file)
            use = part.use.after(use)
        }
        use.wallMilliseconds = (ContinuousClock.now - start) / .milliseconds(1)
        return (files, use)
    }

    /// Renders a part for another job, and keeps it.
    func keepPart(
        _ number: Int, into place: @escaping @Sendable () throws(Failure) -> OpenFile
    ) async throws {
        guard let movie = inspection.plan.movie, (0..<movie.segments).contains(number) else {
            throw Failure(
                .invalidValue,
                "part \(number) of \(files.sources[0].name) was asked for, which has no such part.")
        }
        _ = try await render(number, movie, FramesDone(of: movie) { _ in }, place)
    }

    /// A part's file, and what it took here.
    private typealias Part = (file: OpenFile, use: RenderUse)

    /// Offers the parts to other workers, all but the first.
    ///
    /// - Returns: where they are taken back; nil when nobody else will do any.
    private func share(_ movie: MoviePlan) async -> JobDesk? {
        guard let sharing = kept?.sharing, movie.segments > 1,
            await sharing.desk.split(sharing.task.text, Array(1..<movie.segments))
        else { return nil }
        return sharing.desk
    }

    /// Renders what nobody else renders, one part at a time, and waits for the others without a slot.
    private func besideOthers(
        _ movie: MoviePlan, _ desk: JobDesk, _ done: FramesDone,
        _ place: @escaping @Sendable () throws(Failure) -> OpenFile
    ) async throws -> [Part] {
        func take(_ number: Int) async throws -> Part? {
            let part = await desk.takePart(number)
            for ended in part.ended { done.note(movie.framesOfPart, of: ended) }
            return part.isOurs ? try await render(number, movie, done, place) : nil
        }
        var parts: [Int: Part] = [:]
        for number in 0..<movie.segments { parts[number] = try await take(number) }
        for number in 0..<movie.segments {
            while parts[number] == nil {
                try await pool.slots.lend { try await Task.sleep(for: Self.pause) }
                parts[number] = try await take(number)
            }
        }
        return parts.sorted { $0.key < $1.key }.map(\.value)
    }

    private func sideBySide(
        _ movie: MoviePlan, _ done: FramesDone,
        _ place: @escaping @Sendable () throws(Failure) -> OpenFile
    ) async throws -> [Part] {
        var parts: [Int: Part] = [:]
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
        return parts.sorted { $0.key < $1.key }.map(\.value)
    }

    private func render(
        _ number: Int, _ movie: MoviePlan, _ done: FramesDone,
        _ place: @escaping @Sendable () throws(Failure) -> OpenFile
    ) async throws -> (OpenFile, RenderUse) {
        let file = try await offPool(place)
        if try await find(number, into: file) {
            done.note(movie.framesOfPart, of: number)
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
        // A worker that stood still past its lease must not leave parts of a movie that is done.
        try Task.checkCancellation()
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

extension MoviePlan {
    /// About as many as a part has.
    fileprivate var framesOfPart: Int { frames / segments }
}

/// Counts the frames of parts that are rendered side by side.
private final class FramesDone: Sendable {
    private let movie: MoviePlan
    private let counts: Mutex<[Int: Int]> = Mutex([:])
    private let tell: @Sendable (JobProgress) -> Void

    init(of movie: MoviePlan, _ tell: @escaping @Sendable (JobProgress) -> Void) {
        (self.movie, self.tell) = (movie, tell)
    }

    /// Says how many frames of a part are done by now.
    func note(_ frames: Int, of segment: Int) {
        let sum = counts.withLock { counts in
            counts[segment] = max(frames, counts[segment] ?? 0)
            return counts.values.reduce(0, +)
        }
        tell(JobProgress(framesDone: sum, frames: movie.frames))
    }
}
