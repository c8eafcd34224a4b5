import Edits
import Files
import Library
import RenderPool
import RenderProtocol
import Synchronization

/// The rendering of a movie's parts side by side. For a photo it does nothing.
///
/// A part has the same bytes whichever worker renders it and whatever else runs at the time. So the parts of a
/// job's movie are offered to all workers of the queue, and the job's own worker renders one after another of those
/// that no other worker has claimed. Without a queue the parts are rendered side by side in this process, as far as
/// cores and memory allow.
struct MovieParts: Sendable {
    let pool: RenderPool
    let borrower: Borrower
    /// The request for the whole movie.
    let request: PhotoRequest
    /// The movie, and the resources that its edit names.
    let files: RenderFiles
    /// The reply to the inspection of the request.
    let inspection: Inspection
    /// The store of parts for a worker that continues after a crash; nil: parts are not stored.
    var kept: Kept?

    /// The parts of a movie in a library.
    struct Kept: Sendable {
        let library: any LibraryStore
        /// The render key of the whole movie.
        let key: RenderKey
        /// The task that other workers receive with a part, and the interface that offers the parts; nil: no part is
        /// offered.
        var offer: (task: PartTask, sharing: PartSharing)?
    }

    /// The time between two checks whether another worker has finished its part.
    private static let pause = Duration.milliseconds(250)

    /// Renders all parts.
    ///
    /// - Parameters:
    ///   - progress: called from time to time with the finished share.
    ///   - makeFile: creates a file for a part.
    /// - Returns: the request's files, including the parts, and the resources used.
    /// - Throws: the error of a failed part. The other parts are cancelled.
    func rendered(
        _ progress: @escaping @Sendable (MovieProgress) -> Void = { _ in },
        into makeFile: @escaping @Sendable () throws(Failure) -> OpenFile
    ) async throws -> (RenderFiles, RenderUse) {
        guard let movie = inspection.plan.movie, movie.codec != nil else {
            return (files, RenderUse())
        }
        let done = FramesDone(of: movie, progress)
        let start = ContinuousClock.now
        let parts =
            if let sharing = await share(movie) {
                try await besideOthers(movie, sharing, done, makeFile)
            } else { try await sideBySide(movie, done, makeFile) }
        var (files, use) = (files, RenderUse())
        for part in parts {
            files.segments.append(part.file)
            use = part.use.after(use)
        }
        use.wallMilliseconds = (ContinuousClock.now - start) / .milliseconds(1)
        return (files, use)
    }

    /// Renders a part for another job and stores it in the library.
    func keepPart(
        _ number: Int, into makeFile: @escaping @Sendable () throws(Failure) -> OpenFile
    ) async throws {
        guard let movie = inspection.plan.movie, (0..<movie.segments).contains(number) else {
            throw Failure(
                .invalidValue,
                "part \(number) of \(files.sources[0].name) was requested, but the file has no such part."
            )
        }
        _ = try await render(number, movie, FramesDone(of: movie) { _ in }, makeFile)
    }

    /// A part's file, and the resources that it used in this process.
    private typealias Part = (file: OpenFile, use: RenderUse)

    /// Offers all parts but the first to other workers.
    ///
    /// - Returns: the interface that claims them back; nil if no other worker will render any.
    private func share(_ movie: MoviePlan) async -> PartSharing? {
        guard let offer = kept?.offer, movie.segments > 1,
            await offer.sharing.split(offer.task.text, Array(1..<movie.segments))
        else { return nil }
        return offer.sharing
    }

    /// Renders the parts that no other worker has claimed, one at a time, and waits for the others without a slot.
    private func besideOthers(
        _ movie: MoviePlan, _ sharing: PartSharing, _ done: FramesDone,
        _ makeFile: @escaping @Sendable () throws(Failure) -> OpenFile
    ) async throws -> [Part] {
        func claim(_ number: Int) async throws -> Part? {
            let part = await sharing.claimPart(number)
            for ended in part.ended { done.note(movie.framesOfPart, of: ended) }
            return part.isOurs ? try await render(number, movie, done, makeFile) : nil
        }
        var parts: [Int: Part] = [:]
        for number in 0..<movie.segments { parts[number] = try await claim(number) }
        for number in 0..<movie.segments {
            while parts[number] == nil {
                try await pool.slots.lend { try await Task.sleep(for: Self.pause) }
                parts[number] = try await claim(number)
            }
        }
        return parts.sorted { $0.key < $1.key }.map(\.value)
    }

    private func sideBySide(
        _ movie: MoviePlan, _ done: FramesDone,
        _ makeFile: @escaping @Sendable () throws(Failure) -> OpenFile
    ) async throws -> [Part] {
        var parts: [Int: Part] = [:]
        try await withThrowingTaskGroup(of: (Int, OpenFile, RenderUse).self) { group in
            var next = 0
            while parts.count < movie.segments {
                while next < movie.segments, next - parts.count < pool.slots.share {
                    let number = next
                    group.addTask {
                        let (file, use) = try await render(number, movie, done, makeFile)
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
        _ makeFile: @escaping @Sendable () throws(Failure) -> OpenFile
    ) async throws -> (OpenFile, RenderUse) {
        let file = try await offPool(makeFile)
        if try await find(number, into: file) {
            done.note(movie.framesOfPart, of: number)
            return (file, RenderUse())
        }
        var part = files
        (part.outputs, part.spool) = ([file], nil)
        let handed = part
        // The recipe as resolved by the inspection, so that all parts use the same one.
        let request = PhotoRequest(
            recipe: inspection.recipe, limits: request.limits, outputs: [.init(segment: number)],
            memoryMax: request.memoryMax, threads: 1)
        let use = try await pool.lend(movie.segment.memoryBytes, to: borrower) { child in
            try await child.render(request, handed, as: inspection) { progress in
                if case .frames(let frames) = progress { done.note(frames, of: number) }
            }
        }
        // A worker that was suspended past its lease must not leave parts of a movie that is finished.
        try Task.checkCancellation()
        try await keep(file, number)
        return (file, use)
    }

    /// Reads a part that was rendered before into the file. Returns whether there was one.
    private func find(_ number: Int, into file: OpenFile) async throws(Failure) -> Bool {
        guard let kept, hasSeveral else { return false }
        return try await kept.library.readMoviePart(MoviePartName(kept.key, number), into: file)
    }

    /// Stores a part. A movie of a single part is not stored, since it is complete with that part.
    private func keep(_ file: OpenFile, _ number: Int) async throws(Failure) {
        guard let kept, hasSeveral else { return }
        try await kept.library.keepMoviePart(file, as: MoviePartName(kept.key, number))
    }

    private var hasSeveral: Bool { inspection.plan.movie.map { $0.segments > 1 } ?? false }
}

extension MoviePlan {
    /// The approximate number of frames of a part.
    fileprivate var framesOfPart: Int { frames / segments }
}

/// Counts the finished frames of parts that are rendered side by side.
private final class FramesDone: Sendable {
    private let movie: MoviePlan
    private let counts: Mutex<[Int: Int]> = Mutex([:])
    private let report: @Sendable (MovieProgress) -> Void

    init(of movie: MoviePlan, _ report: @escaping @Sendable (MovieProgress) -> Void) {
        (self.movie, self.report) = (movie, report)
    }

    /// Records the number of finished frames of a part.
    func note(_ frames: Int, of part: Int) {
        let sum = counts.withLock { counts in
            counts[part] = max(frames, counts[part] ?? 0)
            return counts.values.reduce(0, +)
        }
        report(MovieProgress(framesDone: sum, frames: movie.frames))
    }
}
