public import Edits
public import Files
public import FoundationEssentials
import Glibc
import SystemPackage

/// Dead jobs that the queue's Redis does not keep any more, as lines of text. They are in the library, and not on a worker's machine:
/// whoever has the library has them, whichever machines are gone.
///
/// Lines are found by their *place*, which people name: a month's file in a folder, a month's prefix in a bucket.
public protocol DeadLetters: Sendable {
    /// Adds lines to those of a queue. They are durable when the call returns: the jobs are removed from Redis afterwards.
    ///
    /// Several workers may add at the same time. A call that failed may have added the lines nevertheless, so readers pass over repeats.
    ///
    /// - Parameters:
    ///   - lines: whole lines, each with its line feed; at most ``DeadLetterFile/chunkBytesMax``.
    ///   - time: the queue's time, which decides the month.
    /// - Returns: the place of all lines of that month.
    /// - Throws: `storeUnavailable`, `noSpace`, `ioFailure`.
    func append(
        deadLetters lines: [UInt8], of queue: String, at time: Date
    ) async throws(Failure) -> String

    /// Calls `body` with each file of a queue's lines at a place, the oldest first. What is added after the call began is not read, because
    /// `body` may start jobs, which die again. A file whose name tells no queue is taken for the queue's.
    ///
    /// - Parameters:
    ///   - place: a place, one file in it, or what several places begin with.
    ///   - time: the queue's time at the begin.
    /// - Returns: the numbers of files that are of other queues and were not read, by queue.
    /// - Throws: `invalidValue` if it is no place of this library; `missingAsset` if nothing is there; `storeUnavailable`,
    ///   `ioFailure`; what `body` throws.
    func forEachDeadLetterFile(
        at place: String, of queue: String, until time: Date,
        _ body: (DeadLetterFile) async throws -> Void
    ) async throws -> [String: Int]
}

/// A file of dead jobs, and how much of it was there when the reader began.
public struct DeadLetterFile: Sendable {
    public let file: OpenFile
    /// The number of bytes from its beginning that are read.
    public let bytes: Int

    /// The most bytes of one addition: one request to a bucket.
    public static let chunkBytesMax = 8 << 20
    /// The folder of a library, or the first part of keys.
    package static let folder = "dead"
    package static let ending = ".ndjson"

    /// Takes a file as it is now.
    ///
    /// - Throws: `ioFailure`.
    package init(_ file: OpenFile) throws(Failure) {
        self.file = file
        bytes = try file.length()
    }

    /// Opens a file, or the files of a folder, in the order of their names: those of a queue, and those whose names tell none.
    ///
    /// - Returns: the files; and the numbers of those that are of other queues, by queue.
    /// - Throws: `missingAsset` if there are none; `ioFailure`.
    public static func files(
        at path: String, of queue: String
    ) throws(Failure) -> (own: [DeadLetterFile], others: [String: Int]) {
        let place = FilePath(path)
        let files = FileSystem()
        guard try files.exists(place) else { throw nothing(at: path) }
        let paths =
            try files.isFolder(place)
            ? files.list(place).filter { $0.hasSuffix(ending) }.map { place.appending($0) }
            : [place]
        var own: [DeadLetterFile] = []
        var others: [String: Int] = [:]
        for path in paths {
            let named = path.lastComponent.flatMap { Self.queue(ofFile: $0.string) }
            if let named, named != queue {
                others[named, default: 0] += 1
            } else {
                own.append(try Self.open(path))
            }
        }
        if paths.isEmpty { throw nothing(at: path) }
        return (own, others)
    }

    /// Returns the name of a queue's file of a month in a folder.
    package static func name(of queue: String, at time: Date) -> String {
        "\(queue)-\(month(time))\(ending)"
    }

    /// Returns the queue that the name of a file in a folder tells; nil if it tells none.
    package static func queue(ofFile name: String) -> String? {
        guard name.hasSuffix(ending),
            let match = name.dropLast(ending.count).wholeMatch(of: /(.+)-[0-9]{4}-[0-9]{2}/)
        else { return nil }
        return String(match.1)
    }

    private static func open(_ path: FilePath) throws(Failure) -> DeadLetterFile {
        // A pipe would keep the call until somebody writes to it.
        let file = try FileSystem.open(path, O_RDONLY | O_NONBLOCK)
        guard try file.isRegular() else {
            throw Failure(
                .ioFailure,
                "\(path.string) is not a file; expected lines of dead jobs. Move it away, or name the files one by one."
            )
        }
        return try DeadLetterFile(file)
    }

    /// Returns the month of a time, such as `2026-11`.
    package static func month(_ time: Date) -> String {
        time.formatted(.iso8601.year().month())
    }

    /// Returns a time as names have it, which sort by it: `20261129T101112345`.
    package static func stamp(_ time: Date) -> String {
        let text = time.formatted(
            .iso8601.year().month().day().time(includingFractionalSeconds: true))
        return String(text.filter { $0.isASCII && $0.isNumber || $0 == "T" })
    }

    /// Returns the failure of a reader that finds nothing.
    package static func nothing(at place: String) -> Failure {
        Failure(
            .missingAsset,
            "there are no dead jobs at \(place). minilab dead names the places that a queue has.")
    }
}
