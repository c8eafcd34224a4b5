import Edits
import Files
import FoundationEssentials
import JobQueue
import Library
import Operations
import Telemetry

/// Reads the dead jobs that workers moved to a library, line by line, without duplicates.
///
/// Jobs that are replayed may die again and be moved to the same place at once. So only what was there at the begin is read: the bytes
/// of a file then, and jobs that had died by then.
struct DeadLetterReader {
    let queue: QueueName
    let filter: DeadFilter
    /// The queue's time at the begin, ms since 1970. Jobs that died later are passed over.
    let until: Int

    /// The most jobs that `body` gets at a time.
    private static let pageMax = JobQueue.replayMax

    /// Calls `body` with pages of the queue's jobs at a place that match the filter.
    ///
    /// Several queues may keep their dead jobs in one library. Files of the others are named and passed over: their jobs are not this queue's.
    ///
    /// A line that is no job was cut off by a crash and is passed over: its job is still in Redis. So is a line of a later release.
    ///
    /// - Parameters:
    ///   - place: a file, a folder, or a URL of a bucket's objects.
    ///   - library: the setting of the library in whose bucket they are; nil: the environment or the settings file has it.
    /// - Returns: the number of lines of a later release.
    /// - Throws: if the place cannot be read.
    func read(
        _ place: String, of library: FlagValue?, _ settings: String?,
        _ body: ([SpilledJob]) async throws -> Void
    ) async throws -> Int {
        var pages = Pages()
        let others: [String: Int]
        if place.hasPrefix("s3://") {
            let (location, _, logger) = try LibraryOptions.read(
                [library].compactMap(\.self), file: settings)
            let open = try await OpenStore.open(location, for: .reading, logger)
            do {
                others = try await open.library.forEachDeadLetterFile(
                    at: place, of: queue.string,
                    until: Date(timeIntervalSince1970: Double(until) / 1000)
                ) { try await read($0, &pages, body) }
            } catch {
                await open.close()
                throw error
            }
            await open.close()
        } else {
            let files = try DeadLetterFile.files(at: place, of: queue.string)
            others = files.others
            for file in files.own { try await read(file, &pages, body) }
        }
        if !pages.jobs.isEmpty { try await body(pages.jobs) }
        if !others.isEmpty { name(others) }
        return pages.later
    }

    /// Says which other queues have files there.
    private func name(_ others: [String: Int]) {
        let texts = others.sorted { $0.key < $1.key }.map { queue, files in
            "\(queue.printable) (\(counted(files, "file")))"
        }
        StandardError.write(
            "passed over what other queues have moved there: \(texts.joined(separator: ", ")). With --queue and its name, replay takes "
                + "a queue's.")
    }

    /// The jobs that were read and are not passed on yet.
    private struct Pages {
        var jobs: [SpilledJob] = []
        var seen: Set<SpilledJob.Name> = []
        var later = 0
    }

    private func read(
        _ letters: DeadLetterFile, _ pages: inout Pages,
        _ body: ([SpilledJob]) async throws -> Void
    ) async throws {
        let path = letters.file.name
        let lines = LineReader(
            letters.file, lineBytesMax: SpilledJob.lineBytesMax, bytesMax: letters.bytes)
        while let (bytes, number) = try lines.next({ ($0.map { Data($0) }, $1) }) {
            guard let bytes else {
                throw Failure(
                    .ioFailure,
                    "\(path), line \(number), has more than \(SpilledJob.lineBytesMax) bytes; expected a dead job."
                )
            }
            if bytes.isEmpty { continue }
            if let format = Self.laterFormat(of: bytes) {
                pages.later += 1
                StandardError.write(
                    "\(path), line \(number), has format \(format); this release reads up to \(SpilledJob.formatKnown), and "
                        + "leaves the job to a later one.")
                continue
            }
            guard let job = Self.job(bytes) else {
                StandardError.write(
                    "\(path), line \(number), is no dead job and is passed over.")
                continue
            }
            guard job.died <= until, filter.matches(job), pages.seen.insert(job.name).inserted
            else { continue }
            if let fault = job.fault {
                StandardError.write(
                    "\(path), line \(number): job \(job.job.debugDescription.printable) cannot run: \(fault.message)"
                )
            }
            pages.jobs.append(job)
            if pages.jobs.count == Self.pageMax {
                try await body(pages.jobs)
                pages.jobs = []
            }
        }
    }

    private struct Format: Decodable { let format: Int? }

    /// Returns the format of a line of a later release; nil for any other line.
    private static func laterFormat(of line: Data) -> Int? {
        do {
            let format = try JSONDecoder().decode(Format.self, from: line).format ?? 1
            return format > SpilledJob.formatKnown ? format : nil
        } catch {
            return nil
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
