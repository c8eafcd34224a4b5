public import Editing
public import Edits
public import FoundationEssentials
public import JobQueue
public import Library

/// Makes, publishes and discards the results of jobs.
///
/// A handler does not know the queue. ``JobRunner`` calls it and reports the outcome to the queue, so the protocol
/// of commit, publish and finalize exists once. ``PhotoJobHandler`` works on a library of photos. minilab-bench has
/// one handler that does nothing and one that publishes marks, for `ops/chaos`.
public protocol JobHandler: Sendable {
    /// Whether jobs spend time on transferring files, during which other jobs can render.
    var filesTravel: Bool { get }

    /// Makes the result of a job and stages it where any process that may publish it can find it.
    ///
    /// - Parameters:
    ///   - hold: cancels the task of this call when the job is cancelled or its lease is lost.
    ///   - desk: the interface to the queue during the call.
    /// - Throws: a `Failure`; `RenderRequeued` if the worker is short of memory; `CancellationError`.
    func make(
        _ claim: Claim, _ hold: HeldJob, _ desk: JobDesk
    ) async throws -> MadeJob

    /// Makes a staged version current. Idempotent: after a crash at any point, any process can call it again.
    func publish(_ version: CommittedVersion) async throws(Failure) -> Publication

    /// Removes the files staged for a hold. If there are none, the call succeeds.
    func discard(_ hold: Hold) async throws(Failure)

    /// Removes the files staged for a hold that the queue no longer knows, or never knew.
    ///
    /// - Returns: false if the files were kept because a living worker is making them: for the queue of another
    ///   server, or because it does not know yet that it has lost the job.
    func sweep(_ hold: Hold) async throws(Failure) -> Bool

    /// Returns the holds with staged files, of all workers of the queue.
    func staged() async throws(Failure) -> [Hold]

    /// Checks whether the store of versions is usable. Called only after a `storeUnavailable`, `noSpace` or `ioFailure`.
    ///
    /// - Throws: one of these failures if the store is still unusable.
    func reach() async throws(Failure)

    /// Checks whether everything that jobs may find absent is at its place: library, originals, resources. Called before
    /// claims, and before a job ends because of what it found absent, so it is cheap.
    ///
    /// - Throws: `storeUnavailable`, `ioFailure`.
    func checkPresence() async throws(Failure)

    /// Records that a worker of the queue has seen resources, which this one may have to find, too. It waits for no file.
    ///
    /// - Parameter areKnown: whether one has.
    /// - Returns: whether this one or another has.
    func noteResources(_ areKnown: Bool) -> Bool

    /// Returns what the queue has left with the results, to find it again if its Redis has lost it; nil: nothing yet.
    func noteOfQueue() async throws(Failure) -> [UInt8]?
    /// Keeps it in place of the last one.
    func keepNoteOfQueue(_ note: [UInt8]) async throws(Failure)
    /// Keeps dead jobs, as whole lines, with the results: Redis gives them up afterwards.
    ///
    /// - Parameter time: the queue's time.
    /// - Returns: the place by which `minilab replay --file` finds them.
    func keepDead(_ lines: [UInt8], at time: Date) async throws(Failure) -> String
}

extension JobHandler {
    public var filesTravel: Bool { false }
    public func checkPresence() async throws(Failure) {}
    public func noteResources(_ areKnown: Bool) -> Bool { areKnown }
    public func noteOfQueue() async throws(Failure) -> [UInt8]? { nil }
    public func keepNoteOfQueue(_ note: [UInt8]) async throws(Failure) {}
    public func keepDead(_ lines: [UInt8], at time: Date) async throws(Failure) -> String {
        throw Failure(.internalError, "these results have no place for dead jobs.")
    }
}

/// The outcome of making a job's edit.
public enum MadeJob: Sendable {
    /// A complete version is staged. The event is sent when the version is published.
    case version(JobEvent.Completion, isDraft: Bool)
    case nothing(JobEvent.NoChange)
    /// Renditions of a version are in the library, and nothing is to be published.
    case rendered(JobEvent.MadeRenditions)
    /// A part of another job's movie is finished; the worker of that job will find it.
    case part
    /// A newer edit was already published, so nothing was made.
    case superseded(JobEvent.Supersession)
}
