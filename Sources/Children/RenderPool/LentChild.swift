public import Edits
import Files
import Logging
package import RenderProtocol
import Synchronization

/// A render child that is lent for requests of one owner, one after another.
package final class LentChild: Sendable {
    struct Use {
        /// The number of photos rendered and contact sheets drawn.
        var photos = 0
        /// The highest resident set of one render, in bytes.
        var peakBytes = 0
        /// The sentence about what the child held after an answer; nil if it held nothing that a render does not leave behind.
        var excess: String?
        /// Whether the child has read a font that is not for all tenants, in this loan or in an earlier one.
        var hasMetOwnFont = false
        /// Whether the use of more memory than granted was already reported.
        fileprivate var hasExceeded = false
        /// Its number among the running renders; nil before its first render.
        fileprivate var number: Int?
    }

    private let process: RenderProcess
    private let renders: RunningRenders
    private let grant: MemoryGate.Grant
    private let formats: FormatGaps
    private let borrower: Borrower?
    /// Whether the child has done no work yet: it may still be starting.
    let isNew: Bool
    private let logger: Logger
    private let timeout: Duration
    private let metrics: RenderMetrics
    private let used: Mutex<Use>

    /// The time limit of an inspection, which only reads a header. The child's own limit of processor time ends an
    /// endless loop in its reader after 4 s. This limit is for a disk that does not answer. It is generous because
    /// on an overloaded machine the start of a child alone took up to 10 s.
    static let probeTimeout: Duration = .seconds(30)

    /// The time limit of a text. Of 6,000 harmed fonts none took 0.1 s.
    private static let textTimeout: Duration = .seconds(2)

    /// What a request may take beside its grant: as much again, since memory counts as soon as it is mapped, and this.
    private static let reserveBytes = 256 << 20
    /// The stacks of a thread of libvips and of a thread that computes rows.
    static let threadBytes = 16 << 20

    /// The time limit of a part of a movie, as a multiple of its estimate.
    private static let partFactor = 5.0

    /// The time limit for the start of a child, generous for an overloaded machine.
    private static let startTimeout: Duration = .seconds(60)

    /// - Parameter hasMetOwnFont: whether the child has read a font that is not for all tenants in an earlier loan.
    init(
        _ process: RenderProcess, among renders: RunningRenders, grant: MemoryGate.Grant,
        formats: FormatGaps, borrower: Borrower?, isNew: Bool, hasMetOwnFont: Bool,
        timeout: Duration,
        logger: Logger, metrics: RenderMetrics
    ) {
        used = Mutex(Use(hasMetOwnFont: hasMetOwnFont))
        renders.lend(process)
        self.process = process
        self.renders = renders
        self.grant = grant
        self.formats = formats
        self.borrower = borrower
        self.isNew = isNew
        self.logger = logger
        self.timeout = timeout
        self.metrics = metrics
    }

    var use: Use { used.withLock { $0 } }

    /// Reads the header of a photo and plans its render.
    func inspect(_ request: PhotoRequest, _ files: RenderFiles) async throws -> Inspection {
        // An automatic filter needs all pixels for its plan.
        let reply = try await ask(
            .inspect(request), files,
            timeout: request.recipe.isAutomatic ? timeout : Self.probeTimeout
        ).content
        switch reply {
        case .inspected(let inspection): return inspection
        case .refused(let failure): throw answered(failure, files, isRefusal: true)
        case .failed(let failure): throw answered(failure, files, isRefusal: false)
        case .progress, .rendered, .confined, .libraries, .drawn: throw Self.confused()
        }
    }

    /// Ends the loan.
    ///
    /// - Returns: whether the child was killed in the meantime because memory is short.
    func giveBack() -> Bool {
        renders.takeBack(process)
        guard let number = used.withLock({ $0.number.take() }) else { return false }
        return renders.end(number)
    }

    /// Returns the confinement of the child: the kernel mechanisms that restrict it.
    func confinement() async throws -> Confinement {
        let reply = try await ask(.confinement, RenderFiles(), timeout: Self.startTimeout).content
        guard case .confined(let confinement) = reply else { throw Self.confused() }
        return confinement
    }

    /// Returns the libraries that the child decodes and encodes with.
    func libraries() async throws -> [LibraryVersion] {
        let reply = try await ask(.libraries, RenderFiles(), timeout: Self.startTimeout).content
        guard case .libraries(let libraries) = reply else { throw Self.confused() }
        return libraries
    }

    /// Writes and reads back a small picture in a format, with the usual bits of a sample or these.
    ///
    /// - Throws: the reason why the format does not work.
    func tryFormat(_ format: Recipe.Format, _ bitDepth: Recipe.BitDepth?) async throws {
        var files = RenderFiles()
        for name in ["a picture", "what is written of it", "what is read of it"] {
            files.outputs.append(try .inMemory(name: name))
        }
        _ = try await work(.tryFormat(format, bitDepth), files, timeout: Self.startTimeout)
    }

    /// Renders a photo into the files' outputs.
    ///
    /// - Parameters:
    ///   - inspection: the reply to the inspection of the same request.
    ///   - progress: called with the progress of the render.
    package func render(
        _ request: PhotoRequest, _ files: RenderFiles, as inspection: Inspection,
        progress: @escaping @Sendable (RenderReply.Progress) -> Void = { _ in }
    ) async throws -> RenderUse {
        let isPart = request.outputs.contains { $0.segment != nil }
        let plan = inspection.plan
        let estimate = isPart ? plan.movie?.segment ?? plan.estimate : plan.estimate
        // A part of a movie may take longer than a photo.
        let usual = ProcessorSpeed.here.scaled(.seconds(estimate.cpuSeconds * Self.partFactor))
        let limit = min(
            isPart ? max(timeout, usual) : timeout, estimate.timeLimit(at: .here))
        let use = try await work(.render(request), files, timeout: limit, progress)
        metrics.count(
            use, inspection,
            isFull: !isPart && request.outputs.contains(where: \.isFull))
        return use
    }

    /// Draws a contact sheet into the only output of `files`.
    func draw(_ request: ContactSheetRequest, _ files: RenderFiles) async throws {
        _ = try await work(.contactSheet(request), files, timeout: timeout)
    }

    /// Draws a text into the only output of `files`.
    ///
    /// - Parameter hasOwnFont: whether one of its fonts is not for all tenants.
    func draw(
        _ request: TextRequest, _ files: RenderFiles, hasOwnFont: Bool
    ) async throws -> TextCoverage {
        if hasOwnFont { used.withLock { $0.hasMetOwnFont = true } }
        let reply = try await ask(
            .text(request), files, timeout: ProcessorSpeed.here.scaled(Self.textTimeout)
        ).content
        used.withLock { $0.photos += 1 }
        switch reply {
        case .drawn(let coverage): return coverage
        // The font's reader may have been taken over.
        case .failed(let failure), .refused(let failure):
            throw AnsweredFailure(failure: failure, isRefusal: failure.code == .missingGlyph)
        case .progress, .inspected, .rendered, .confined, .libraries: throw Self.confused()
        }
    }

    private func work(
        _ work: RenderRequest.Work, _ files: RenderFiles, timeout: Duration,
        _ progress: @escaping @Sendable (RenderReply.Progress) -> Void = { _ in }
    ) async throws -> RenderUse {
        begin()
        let (reply, use, _) = try await ask(work, files, timeout: timeout, progress)
        count(peak: use.peakMemoryBytes)
        switch reply {
        case .rendered(let libraries):
            var use = use
            use.libraries = libraries?.byName ?? [:]
            return use
        case .refused(let failure): throw answered(failure, files, isRefusal: true)
        case .failed(let failure): throw answered(failure, files, isRefusal: false)
        case .progress, .inspected, .confined, .libraries, .drawn: throw Self.confused()
        }
    }

    private func ask(
        _ work: RenderRequest.Work, _ files: RenderFiles, timeout: Duration,
        _ progress: @escaping @Sendable (RenderReply.Progress) -> Void = { _ in }
    ) async throws -> RenderProcess.Answer {
        let answer = try await process.ask(
            work, files, timeout: timeout,
            bytesMax: 2 * grant.bytes + Self.reserveBytes
                + RenderSlots.shareMax * Self.threadBytes,
            hasLostLease: { [borrower] in borrower?.hasLostLease() ?? false }, progress: progress)
        if let excess = answer.excess { used.withLock { $0.excess = excess } }
        return answer
    }

    private func answered(
        _ failure: Failure, _ files: RenderFiles, isRefusal: Bool
    ) -> AnsweredFailure {
        AnsweredFailure(
            failure: formats.explaining(failure, of: files.sources.first), isRefusal: isRefusal)
    }

    /// Registers the child as a running render, from its first pixel on.
    private func begin() {
        let metadata = logger.metadataProvider?.get() ?? [:]
        used.withLock {
            $0.number = $0.number ?? renders.begin(process, metadata, of: borrower?.owner)
        }
    }

    private func count(peak: Int = 0) {
        let exceedsNow = used.withLock { used in
            used.photos += 1
            used.peakBytes = max(used.peakBytes, peak)
            defer { used.hasExceeded = used.peakBytes > grant.bytes }
            return used.peakBytes > grant.bytes && !used.hasExceeded
        }
        guard exceedsNow else { return }
        logger.warning(
            "a render used more memory than was estimated",
            metadata: ["peak": "\(megabytes(peak))", "granted": "\(megabytes(grant.bytes))"])
    }

    /// Returns the failure for a reply of the wrong kind. It indicates an error in the reader of replies, which lets
    /// through only replies that match the request.
    private static func confused() -> Failure {
        Failure(
            .internalError,
            "an answer to another question passed the checks of replies. Report this with the photo."
        )
    }
}

/// A failure that a child has reported in its reply; the child is alive.
struct AnsweredFailure: Error {
    let failure: Failure
    /// Whether the child reports that no decoder had opened the photo. A child that lies about it stays in use, as
    /// it would after a reply with a picture.
    let isRefusal: Bool

    /// Whether the child may be used again, because no decoder failed.
    var leavesChild: Bool { isRefusal || failure.code == .exceedsMemoryBudget }
}

/// The job or the command that a child is lent to.
public struct Borrower: Sendable {
    /// The owner of the photos that the child reads. A child never reads photos of two owners.
    package let owner: Owner
    /// Returns whether another worker may do the job by now. The pool asks when the borrower's task is cancelled, on
    /// any thread, and reports the end of the child as ``ChildDeath/lostLease`` if so.
    let hasLostLease: @Sendable () -> Bool

    /// Creates a borrower. Without `hasLostLease`, it has no lease that it could lose.
    public init(_ owner: Owner, hasLostLease: @escaping @Sendable () -> Bool = { false }) {
        self.owner = owner
        self.hasLostLease = hasLostLease
    }
}
