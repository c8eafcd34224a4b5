import Edits
import Files
import FoundationEssentials
import Glibc
import JobQueue
import Operations
import Synchronization
import SystemPackage
import Telemetry

/// The jobs of one manifest and their results so far.
struct Run {
    /// Jobs that published a version or saved a draft.
    private(set) var completed: [JobEvent.Completed] = []
    /// Jobs that made renditions of a version that is there.
    private(set) var rendered: [JobEvent.Rendered] = []
    private(set) var unchanged: [JobEvent.Unchanged] = []
    private(set) var failed: [JobEvent.Failed] = []
    /// Jobs that started after a newer edit was published.
    private(set) var superseded: [JobEvent.Superseded] = []
    /// Jobs that a newer edit of the manifest replaced, or that were cancelled.
    private(set) var cancelled: [JobEvent.Cancelled] = []
    private let manifest: Manifest
    private let queue: JobQueue
    /// Begins to read events after the newest one.
    private let reader: @Sendable () async throws -> EventReader
    private var open: Set<String> = []
    private var progress: Progress
    private var events: EventReader
    /// When an event of one of its jobs came last, or the jobs were looked up.
    private var heard = ContinuousClock.now
    /// The job that is looked up next, by its position in the manifest.
    private var lookedUp = 0
    /// The positions in the manifest, by which rows are sorted.
    private let order: [String: Int]

    /// The time without an event after which jobs are looked up: an event may have been trimmed before it was read.
    static let quiet: Duration = .seconds(5)
    /// The most jobs that are looked up at a time.
    static let lookUpsMax = 200

    /// Enqueues the jobs that are new to the queue, and runs those again that died in an earlier run.
    ///
    /// The jobs are sent one at a time in the manifest's order, which is the order of an asset's edits.
    ///
    /// - Parameter reader: begins to read events after the newest one.
    static func start(
        _ manifest: Manifest, queue: JobQueue,
        reader: @escaping @Sendable () async throws -> EventReader
    ) async throws -> Run {
        var run = Run(manifest, queue, reader, try await reader())
        for job in manifest.jobs { try await run.submit(job) }
        run.progress = Progress(
            total: manifest.jobs.count,
            done: run.completed.count + run.rendered.count + run.unchanged.count
                + run.superseded.count + run.cancelled.count)
        for _ in run.failed { run.progress.count(failed: true) }
        return run
    }

    private init(
        _ manifest: Manifest, _ queue: JobQueue,
        _ reader: @escaping @Sendable () async throws -> EventReader, _ events: EventReader
    ) {
        (self.manifest, self.queue, self.reader, self.events) = (manifest, queue, reader, events)
        progress = Progress(total: manifest.jobs.count, done: 0)
        order = Dictionary(
            uniqueKeysWithValues: manifest.jobs.enumerated().map { ($1.id.string, $0) })
    }

    private mutating func record(_ outcome: JobOutcome) {
        switch outcome {
        case .completed(let job), .drafted(let job): completed.append(job)
        case .rendered(let job): rendered.append(job)
        case .unchanged(let job): unchanged.append(job)
        case .superseded(let job): superseded.append(job)
        case .cancelled(let job): cancelled.append(job)
        }
    }

    /// Sends a job, unless an earlier run did. One that has ended with success is not run again.
    private mutating func submit(_ job: Manifest.Job) async throws {
        let id = job.id.string
        let request = JobRequest(
            id: job.id, asset: job.request.asset, edit: job.request.edit,
            fields: job.request.fields, scheduling: job.request.scheduling)
        switch try await queue.submit(request, backlogMax: nil) {
        case .accepted: open.insert(id)
        case .same(.done), .notAgain(.cancelled):
            if let outcome = try await queue.outcome(of: id) {
                record(outcome)
            } else {
                unchanged.append(
                    Self.unchanged(job, "it ended in an earlier run, whose result is forgotten"))
            }
        case .same(.dropped):
            unchanged.append(
                Self.unchanged(job, "it was done in an earlier run, whose result is forgotten"))
        case .same(.stuck), .notAgain(.dead): try await runAgain(job, queue.replay([id]).first)
        case .same: open.insert(id)
        case .notAgain(.dropped):
            try await runAgain(job, queue.restore(dropped: job.id, as: request))
        case .conflict:
            failed.append(
                Self.failed(
                    job,
                    "an earlier run had another job of the id \(id). Give the line another id, or run it with another --state."
                ))
        case .overQuota, .overBytes: preconditionFailure("a run has no quota")
        }
    }

    private mutating func runAgain(_ job: Manifest.Job, _ answer: JobQueue.Replay?) async throws {
        switch answer {
        case .replayed?, .notDead?: open.insert(job.id.string)
        default:
            failed.append(
                Self.failed(
                    job,
                    "it failed in an earlier run and cannot be run again (\(answer?.rawValue ?? "GONE")). Give the line "
                        + "another id."))
        }
    }

    private static func unchanged(
        _ job: Manifest.Job, _ reason: String
    ) -> JobEvent.Unchanged {
        JobEvent.Unchanged(
            .init(
                job: job.id.string, asset: job.request.asset.string, generation: 1, attempt: 1,
                worker: ""),
            .init(mode: job.request.edit.mode.name, version: nil, reason: reason))
    }

    private static func failed(_ job: Manifest.Job, _ message: String) -> JobEvent.Failed {
        JobEvent.Failed(
            .init(
                job: job.id.string, asset: job.request.asset.string, generation: 1, attempt: 0,
                worker: nil), .init(Failure(.invalidValue, message)))
    }

    /// Counts the jobs that end until all have ended.
    ///
    /// - Returns: false if it was stopped earlier.
    mutating func follow(until stopped: StopSign) async throws -> Bool {
        progress.report()
        while !open.isEmpty {
            if stopped.isUp { return false }
            do throws(QueueError) {
                for entry in try await events.next(waiting: .seconds(1)) { note(entry.event) }
            } catch {
                switch error.code {
                case .unreadableEvent: break  // the next call reads on behind it
                case .tokenExpired:
                    events = try await reader()
                    try await lookUp(manifest.jobs[...])
                default: throw error
                }
            }
            if .now - heard > Self.quiet { try await lookUpSome() }
        }
        let order = order
        completed.sort { order[$0.job, default: 0] < order[$1.job, default: 0] }
        rendered.sort { order[$0.job, default: 0] < order[$1.job, default: 0] }
        unchanged.sort { order[$0.job, default: 0] < order[$1.job, default: 0] }
        superseded.sort { order[$0.job, default: 0] < order[$1.job, default: 0] }
        cancelled.sort { order[$0.job, default: 0] < order[$1.job, default: 0] }
        failed.sort { order[$0.job, default: 0] < order[$1.job, default: 0] }
        return true
    }

    private mutating func note(_ event: JobEvent) {
        switch event.data {
        case .completed(let job): end(job.job, .completed(job))
        case .drafted(let job): end(job.job, .drafted(job))
        case .rendered(let job): end(job.job, .rendered(job))
        case .unchanged(let job): end(job.job, .unchanged(job))
        case .superseded(let job): end(job.job, .superseded(job))
        case .cancelled(let job): end(job.job, .cancelled(job))
        case .failed(let job): end(failed: job)
        case .stuck(let job):
            // No other worker uses this queue. The next run tries again to publish the version.
            end(
                failed: JobEvent.Failed(
                    .init(
                        job: job.job, asset: job.asset, generation: job.generation,
                        attempt: job.carries + 1, worker: job.worker), .init(job.error)))
        default: break
        }
    }

    private mutating func end(_ job: String, _ outcome: JobOutcome) {
        guard open.remove(job) != nil else { return }
        heard = .now
        record(outcome)
        progress.count(failed: false)
    }

    private mutating func end(failed job: JobEvent.Failed) {
        guard open.remove(job.job) != nil else { return }
        heard = .now
        failed.append(job)
        progress.count(failed: true)
    }

    /// Looks some of the open jobs up, in turn.
    private mutating func lookUpSome() async throws {
        var jobs: [Manifest.Job] = []
        for _ in manifest.jobs.indices where jobs.count < Self.lookUpsMax {
            let job = manifest.jobs[lookedUp]
            lookedUp = (lookedUp + 1) % manifest.jobs.count
            if open.contains(job.id.string) { jobs.append(job) }
        }
        try await lookUp(jobs[...])
        heard = .now
    }

    /// Counts the jobs that have ended without an event that this run has read.
    private mutating func lookUp(_ jobs: ArraySlice<Manifest.Job>) async throws {
        for job in jobs where open.contains(job.id.string) {
            let id = job.id.string
            guard let record = try await queue.record(of: id) else {
                end(
                    failed: Self.failed(
                        job, "the queue has no record of it any more. Run the manifest again."))
                continue
            }
            switch record.state {
            case .done:
                if let outcome = try await queue.outcome(of: id) { end(id, outcome) }
            case let state where state.isFailed:
                end(
                    failed: JobEvent.Failed(
                        .init(
                            job: id, asset: record.asset, generation: record.generation,
                            attempt: record.attempts + record.crashes, worker: record.worker),
                        .init(
                            Failure(
                                record.code ?? .internalError, record.message ?? "it failed."))))
            default: break
            }
        }
    }
}

/// A flag that the worker has stopped; it may be set from any thread.
final class StopSign: Sendable {
    private let sign = Mutex(false)
    var isUp: Bool { sign.withLock { $0 } }
    func raise() { sign.withLock { $0 = true } }
}

/// A file of jobs, one JSON object per line (`jobs/job.schema.json`).
struct Manifest {
    /// The jobs, each with an id: the line's own, or one derived from the line's number and content, so that the same
    /// manifest always has the same ids.
    private(set) var jobs: [Job] = []
    private(set) var refused = RefusedLines<Failure>()

    struct Job: Sendable {
        let id: JobID
        let request: JobRequest
    }

    /// The most bytes of a manifest.
    static let bytesMax = 1 << 30

    /// The most faulty lines that are named on a terminal; the rest are counted.
    static let problemsMax = 20

    /// Reads a manifest.
    ///
    /// - Throws: ``UnusableJobs`` if the file cannot be read, or no line of it is a job.
    init(path: String) throws {
        let data: [UInt8]
        do throws(Errno) {
            data = try SmallFile.bytes(path, atMost: Self.bytesMax)
        } catch {
            throw UnusableJobs(path: path, verb: "run", problems: ["it cannot be read: \(error)"])
        }
        guard data.count <= Self.bytesMax else {
            throw UnusableJobs(
                path: path, verb: "run",
                problems: ["it has more than \(Self.bytesMax) bytes."])
        }
        var lineOfID: [JobID: Int] = [:]
        // Lines end at bytes: for Swift, the two bytes of a line end of Windows are one character, which is no "\n".
        let lines = data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            let number = index + 1
            do throws(Failure) {
                guard let job = try Self.job(line, number) else { continue }
                if let other = lineOfID[job.id] {
                    throw Failure(
                        .invalidValue, "id \(job.id) was used on line \(other) already")
                }
                lineOfID[job.id] = number
                jobs.append(job)
            } catch {
                refused.add(error, line: number)
            }
        }
        guard jobs.isEmpty else { return }
        throw UnusableJobs(
            path: path, verb: "run",
            problems: refused.isEmpty
                ? ["it has no jobs"] : refused.sentences(atMost: Self.problemsMax))
    }

    private static func job(_ line: ArraySlice<UInt8>, _ number: Int) throws(Failure) -> Job? {
        guard let text = String(validating: line, as: UTF8.self) else {
            throw Failure(.invalidValue, "it is not UTF-8; paths and edits are given in UTF-8.")
        }
        guard text.contains(where: { !$0.isWhitespace }) else { return nil }
        // Some editors write a byte-order mark at the beginning of a file.
        let hasMark = number == 1 && text.unicodeScalars.first == "\u{FEFF}"
        let request = try JobRequest(
            json: hasMark ? String(text.unicodeScalars.dropFirst()) : text)
        if let id = request.id { return Job(id: id, request: request) }
        return Job(id: try Self.id(of: request, line: number), request: request)
    }

    private static func id(of request: JobRequest, line: Int) throws(Failure) -> JobID {
        try JobID("line-\(line)-\(request.digest.prefix(16))")
    }
}

/// The progress of a run on standard error: a bar for a person, plain lines for a log.
struct Progress {
    let total: Int
    private(set) var done: Int
    private(set) var failed = 0
    private let started = ContinuousClock.now
    private let doneBefore: Int
    private let isTerminal: Bool
    private var reportedAt: ContinuousClock.Instant?

    /// The time that the remaining jobs take if workers do nothing else; nil if it is not known.
    private var estimate: Duration?

    /// The shortest interval between lines in a log.
    private static let lineInterval: Duration = .seconds(2)
    private static let barWidth = 30

    /// - Parameter done: the jobs that an earlier run completed.
    init(total: Int, done: Int, isTerminal: Bool = StandardError.isTerminal) {
        self.total = total
        self.done = done
        doneBefore = done
        self.isTerminal = isTerminal
    }

    /// Counts one more job as ended.
    mutating func count(failed isFailure: Bool) {
        if isFailure { failed += 1 } else { done += 1 }
        report()
    }

    /// Sets the number of jobs that have ended.
    ///
    /// - Parameter estimate: the time that the remaining jobs take if workers do nothing else; nil to derive the remaining time from
    ///   the rate so far.
    mutating func advance(to done: Int, failed: Int = 0, estimate: Duration? = nil) {
        self.done = done
        self.failed = failed
        self.estimate = estimate
        report()
    }

    private var ended: Int { done + failed }

    /// Shows the progress; a log gets a line at the start, at intervals, and at the end.
    mutating func report() {
        let now = ContinuousClock.now
        if isTerminal {
            write("\r\u{1b}[K" + line(after: now - started) + (ended == total ? "\n" : ""))
        } else if ended == total || reportedAt.map({ now - $0 >= Self.lineInterval }) ?? true {
            reportedAt = now
            write(line(after: now - started) + "\n")
        }
    }

    /// Returns the line after an elapsed time. Rate and ETA count the jobs of this run only.
    func line(after elapsed: Duration) -> String {
        let share = total == 0 ? 1 : Double(ended) / Double(total)
        let filled = Int(share * Double(Self.barWidth))
        let bar =
            String(repeating: "█", count: filled)
            + String(repeating: "░", count: Self.barWidth - filled)
        let rate = Double(ended - doneBefore) / max(elapsed / .seconds(1), 0.001)
        // An estimate is of the work alone: jobs of others may come before it.
        let eta =
            estimate.map { "\(clock(Int(($0 / .seconds(1)).rounded(.up)))) of work left" }
            ?? (rate > 0
                ? "\(clock(Int((Double(total - ended) / rate).rounded(.up)))) left" : nil)
        return "\(bar) \(ended)/\(total)" + (failed > 0 ? ", \(failed) failed" : "")
            + (ended > doneBefore ? ", \(decimal(rate))/s" : "")
            + (ended < total ? (eta.map { ", \($0)" } ?? "") : ", done")
    }

    private func write(_ text: String) {
        let bytes = Array(text.utf8)
        // Standard error is closed, so an error cannot be reported.
        _ = Glibc.write(STDERR_FILENO, bytes, bytes.count)
    }
}
