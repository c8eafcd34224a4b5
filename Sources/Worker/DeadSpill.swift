import Adjustments
import Files
import FoundationEssentials
import Glibc
import JobQueue
import SystemPackage

/// The files of a library to which workers move dead jobs that Redis cannot keep: a line of JSON for each job, a file
/// for each month.
///
/// Several workers may write to one file at the same time: each call appends whole lines by one write. A job is dropped
/// from Redis after its line is on the disk, so a crash in between writes it twice, and readers drop repeats.
struct DeadSpill: Sendable {
    /// The folder `dead` of the library.
    let folder: FilePath
    let queue: String

    /// Appends jobs and fsyncs.
    ///
    /// - Returns: the file.
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
        // The name of a new file has to outlive a power cut, too.
        let opened = try Self.saying(
            "opening the folder", folder, OpenFile(opening: folder.string, O_RDONLY | O_DIRECTORY))
        try Self.saying("syncing the folder", folder, Descriptor.sync(opened.descriptor))
        return path
    }

    /// What is written. It begins with a line end: a crash may have left a part of a line before it.
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
    /// How many chunks one turn moves: more wait for the next, so that lost leases are looked for meanwhile.
    static let chunksMax = 20

    /// Moves dead jobs that Redis should not keep.
    ///
    /// - Returns: how many were moved, and to which file.
    func move(from queue: JobQueue) async throws -> (jobs: Int, file: FilePath?) {
        var (moved, file) = (0, FilePath?.none)
        for _ in 0..<Self.chunksMax {
            let jobs = try await queue.surplusDead()
            if jobs.isEmpty { break }
            let path = try await offPool { () throws(Failure) in try append(jobs) }
            file = path
            moved += try await queue.dropDead(
                jobs.map { ($0.job, $0.generation) }, writtenTo: path.string)
        }
        return (moved, file)
    }
}
