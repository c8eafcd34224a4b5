import Edits
import Files
import FoundationEssentials
import Glibc
import JobQueue
import SystemPackage

/// The files of a library to which workers move dead jobs that exceed the limit of Redis: one line of JSON for each
/// job, one file for each month.
///
/// Several workers may write to one file at the same time: each call appends whole lines with one write. A job is
/// deleted from Redis after its line is on disk, so a crash in between writes the line twice. Readers drop
/// duplicates.
struct DeadSpill: Sendable {
    /// The folder `dead` of the library.
    let folder: FilePath
    let queue: String

    /// Appends jobs and syncs the file.
    ///
    /// - Returns: the path of the file.
    func append(_ jobs: [SpilledJob], at date: Date = .now) throws(Failure) -> FilePath {
        if mkdir(folder.string, 0o777) != 0, errno != EEXIST {
            throw Self.failure("making the folder", folder, .latest)
        }
        let month = date.formatted(.iso8601.year().month())
        let path = folder.appending("\(queue)-\(month).ndjson")
        let lines = try Self.lines(jobs)
        let file = try Self.saying(
            "opening", path, OpenFile(opening: path.string, O_WRONLY | O_CREAT | O_APPEND))
        try Self.saying("writing to", path, Descriptor.write(file.descriptor, lines))
        try Self.saying("syncing", path, Descriptor.sync(file.descriptor))
        // Makes the name of a new file survive a power cut.
        let opened = try Self.saying(
            "opening the folder", folder, OpenFile(opening: folder.string, O_RDONLY | O_DIRECTORY))
        try Self.saying("syncing the folder", folder, Descriptor.sync(opened.descriptor))
        return path
    }

    /// Encodes the lines. They begin with a line feed, because a crash may have left an incomplete line at the end
    /// of the file.
    private static func lines(_ jobs: [SpilledJob]) throws(Failure) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var lines: [UInt8] = [0x0A]
        for job in jobs {
            do {
                lines += try encoder.encode(job) + [0x0A]
            } catch {
                throw Failure(
                    .internalError, "dead job \(job.job) does not encode to JSON: \(error)")
            }
        }
        return lines
    }

    private static func saying<Result>(
        _ what: String, _ path: FilePath, _ call: @autoclosure () throws(Errno) -> Result
    ) throws(Failure) -> Result {
        do throws(Errno) { return try call() } catch { throw failure(what, path, error) }
    }

    private static func failure(_ what: String, _ path: FilePath, _ error: Errno) -> Failure {
        Failure(
            error == .noSpace || error.rawValue == EDQUOT ? .noSpace : .ioFailure,
            "\(what) \(path) failed: \(error). Dead jobs stay in Redis until it can be written.")
    }
}

extension DeadSpill {
    /// The most chunks moved in one turn. The rest waits for the next turn, so that the worker checks for lost
    /// leases in between.
    static let chunksMax = 20

    /// Moves dead jobs beyond the limit of Redis to a file.
    ///
    /// - Parameter check: checks that the library is at its place: a file in its disk's mount point is found by nobody.
    /// - Returns: the number of jobs moved, and the file.
    func move(
        from queue: JobQueue, _ check: () async throws(Failure) -> Void
    ) async throws -> (jobs: Int, file: FilePath?) {
        var (moved, file) = (0, FilePath?.none)
        for _ in 0..<Self.chunksMax {
            let jobs = try await queue.surplusDead()
            if jobs.isEmpty { break }
            try await check()
            let path = try await offPool { () throws(Failure) in try append(jobs) }
            file = path
            moved += try await queue.removeDead(
                jobs.map { ($0.job, $0.generation) }, writtenTo: path.string)
        }
        return (moved, file)
    }
}
