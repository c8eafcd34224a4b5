import DequeModule
package import Edits
import Files
import FoundationEssentials
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

    struct Kept: Sendable {
        let library: any RenderReuse
        /// The render key of the whole movie.
        let key: RenderKey
        /// The task that other workers receive with a part, and the interface that offers the parts; nil: no part is
        /// offered.
        var offer: (task: PartTask, desk: JobDesk)?
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
            if let desk = await share(movie) {
                try await besideOthers(movie, desk, done, makeFile)
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
    private func share(_ movie: MoviePlan) async -> JobDesk? {
        guard let offer = kept?.offer, movie.segments > 1,
            await offer.desk.split(offer.task.text, Array(1..<movie.segments))
        else { return nil }
        return offer.desk
    }

    /// Renders the parts that no other worker has claimed, one at a time, and waits for the others without a slot.
    private func besideOthers(
        _ movie: MoviePlan, _ desk: JobDesk, _ done: FramesDone,
        _ makeFile: @escaping @Sendable () throws(Failure) -> OpenFile
    ) async throws -> [Part] {
        func claim(_ number: Int) async throws -> Part? {
            let part = await desk.claimPart(number)
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
        var request = request
        request.recipe = inspection.recipe
        request.outputs = [.init(segment: number)]
        (request.threads, request.contentIdentifier) = (1, nil)
        let resolved = request
        let use = try await pool.lend(movie.segment.memoryBytes, to: borrower) { child in
            try await child.render(resolved, handed, as: inspection) { progress in
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

/// The rendered share of a movie.
public struct MovieProgress: Sendable, Equatable {
    /// The number of rendered frames.
    public let framesDone: Int
    public let frames: Int
}

/// The interface to the queue of a job while it is made. By default nobody reads its preview or renders its parts.
public struct JobDesk: Sendable {
    /// Publishes a rough preview of the result, as a `data:` URI, to readers of events.
    package var placeholder: @Sendable (String) async -> Void = { _ in }

    /// Offers parts of the job's movie to other workers.
    ///
    /// The task string describes the work and is the same for all parts. Returns false if no other worker can
    /// render any part.
    package var split: @Sendable (_ task: String, _ numbers: [Int]) async -> Bool = { _, _ in false
    }

    /// Claims a part back, unless another worker is rendering it.
    package var claimPart: @Sendable (Int) async -> Part = { _ in Part(isOurs: true, ended: []) }

    package struct Part: Sendable {
        /// Whether this worker is the only one that renders the part.
        let isOurs: Bool
        /// The parts that other workers have finished so far.
        let ended: [Int]

        package init(isOurs: Bool, ended: [Int]) {
            self.isOurs = isOurs
            self.ended = ended
        }
    }

    package init() {}
}

/// The task of a worker that renders a part of another job's movie.
///
/// It names the input and the purpose of the part. The worker that renders it verifies both by itself.
package struct PartTask: Sendable, Codable, Equatable {
    /// The asset whose original is rendered.
    let asset: String
    /// The recipe of the job's edit. The worker resolves it again, with the same result.
    let recipe: Recipe
    /// The render key of the whole movie, in hex. A worker stores a part only if it computes the same key.
    let key: String

    /// The task as text. Equal tasks have equal texts.
    var text: String {
        JSONValue.object([
            "asset": .string(asset), "recipe": recipe.json, "key": .string(key),
        ]).canonical
    }

    init(asset: AssetPath, recipe: Recipe, key: RenderKey) {
        (self.asset, self.recipe, self.key) = (asset.string, recipe, key.hex)
    }

    /// Parses the text of a task.
    ///
    /// - Throws: `malformedJSON` if it is invalid, for example because a worker of another version wrote it.
    package init(_ text: String) throws(Failure) {
        do {
            self = try JSONDecoder().decode(PartTask.self, from: Data(text.utf8))
        } catch {
            throw Failure(
                .malformedJSON,
                "the task of a movie's part cannot be read: \(error.decodingReason). The worker that has the movie renders the part "
                    + "itself.")
        }
    }
}

/// The digests of recently read files, so that a worker that renders many parts of one movie digests it only once.
///
/// A file with the same stamp has the same bytes, because the stamp includes the time of the last change of any
/// kind.
final class DigestMemo: Sendable {
    /// The most files that are kept: more than the number of movies that a worker works on at the same time.
    static let filesMax = 32

    private let known = Mutex(Deque<(stamp: FileStamp, sha256: String)>())

    /// Returns the digest in hex, like `FileDigest.hex(of:)`, off the cooperative pool.
    func hex(of file: OpenFile) async throws(Failure) -> String {
        try await offPool { () throws(Failure) in
            let stamp = try file.stamp(getsLinks: false)
            if let found = self.known.withLock({ known in known.first { $0.stamp == stamp } }) {
                return found.sha256
            }
            let sha256 = try FileDigest.hex(of: file)
            // A file that was changed while it was read has another stamp now.
            if try file.stamp(getsLinks: false) == stamp {
                self.known.withLock { known in
                    if known.count == Self.filesMax { known.removeFirst() }
                    known.append((stamp, sha256))
                }
            }
            return sha256
        }
    }
}
