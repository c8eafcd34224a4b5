import Edits
import FoundationEssentials
import JobQueue
import Library

/// Moves dead jobs that exceed the limits of Redis to where they last: one line of JSON for each job.
///
/// A job is deleted from Redis after its line is durable, so a crash in between writes the line twice. Readers drop duplicates.
enum DeadSpill {
    /// The most steps in one turn. The rest waits for the next turn, so that the worker checks for lost leases in between.
    static let stepsMax = 20

    /// - Parameter keep: makes lines durable, and returns their place.
    /// - Returns: the number of jobs moved, and the last place.
    static func move(
        from queue: JobQueue, _ keep: (_ lines: [UInt8], _ time: Date) async throws -> String
    ) async throws -> (jobs: Int, place: String?) {
        var (moved, place) = (0, String?.none)
        for _ in 0..<stepsMax {
            let jobs = try await queue.surplusDead()
            if jobs.isEmpty { break }
            // A worker's machine may start with the year 1970.
            let time = Date(timeIntervalSince1970: Double(try await queue.latestTime()) / 1000)
            for chunk in try chunks(of: jobs) {
                let kept = try await keep(chunk.lines, time)
                place = kept
                moved += try await queue.removeDead(
                    chunk.jobs.map { ($0.job, $0.generation) }, writtenTo: kept)
            }
        }
        return (moved, place)
    }

    /// Encodes jobs as lines, in chunks that a library takes.
    static func chunks(
        of jobs: [SpilledJob], bytesMax: Int = DeadLetterFile.chunkBytesMax
    ) throws(Failure) -> [(jobs: [SpilledJob], lines: [UInt8])] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var chunks: [(jobs: [SpilledJob], lines: [UInt8])] = []
        for job in jobs {
            let line: [UInt8]
            do {
                line = try encoder.encode(job) + [UInt8(ascii: "\n")]
            } catch {
                throw Failure(
                    .internalError, "dead job \(job.job) does not encode to JSON: \(error)")
            }
            if let last = chunks.last, last.lines.count + line.count <= bytesMax {
                chunks[chunks.count - 1].jobs.append(job)
                chunks[chunks.count - 1].lines += line
            } else {
                chunks.append(([job], line))
            }
        }
        return chunks
    }
}
