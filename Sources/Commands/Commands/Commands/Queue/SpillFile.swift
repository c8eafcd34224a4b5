import Edits
import Files
import FoundationEssentials
import JobQueue
import Telemetry

/// A file to which workers moved dead jobs, read line by line, without duplicates.
struct SpillFile {
    let path: String
    let filter: DeadFilter

    /// Calls `body` with each job that matches the filter.
    ///
    /// - Throws: if the file cannot be read, or if a complete line is not a job. A last line without a line end was cut
    ///   off by a crash and is skipped: its job is still in Redis.
    func forEach(_ body: (SpilledJob) async throws -> Void) async throws {
        let lines = LineReader(
            try JobFile.open(path), lineBytesMax: SpilledJob.lineBytesMax)
        var seen: Set<SpilledJob.Name> = []
        while let line = try lines.next() {
            guard let bytes = line.bytes else {
                throw Failure(
                    .ioFailure,
                    "\(path), line \(line.number), has more than \(SpilledJob.lineBytesMax) bytes; expected a dead job."
                )
            }
            if bytes.isEmpty { continue }
            guard let job = Self.job(Data(bytes)) else {
                StandardError.write(
                    "\(path), line \(line.number), is no dead job and is passed over.")
                continue
            }
            guard seen.insert(job.name).inserted, filter.matches(job) else { continue }
            try await body(job)
        }
    }

    private static func job(_ line: Data) -> SpilledJob? {
        do {
            return try JSONDecoder().decode(SpilledJob.self, from: line)
        } catch {
            // A crash cut the line off, and the job was written again.
            return nil
        }
    }
}
