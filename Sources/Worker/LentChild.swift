import Adjustments
import Files
import Logging
import RenderProtocol
import Synchronization

/// A render child that is lent for requests of one tenant, one after the other.
final class LentChild: Sendable {
    /// What the child was used for.
    struct Use {
        /// What it rendered or drew.
        var photos = 0
        /// Highest resident set of one render.
        var peakBytes = 0
        /// Whether it was told that it used more than it was granted.
        fileprivate var hasExceeded = false
        /// Its number among the renders that run; nil until it renders.
        fileprivate var number: Int?
    }

    private let child: RenderChild
    private let renders: RunningRenders
    private let grant: MemoryGate.Grant
    private let formats: FormatGaps
    private let logger: Logger
    private let renderTimeout: Duration
    private let listener: WorkerEvent.Listener
    private let used = Mutex(Use())

    /// How long a probe may take: it reads a header. A loop in its reader is ended by the child's own limit of
    /// processor time, after 4 s; this is for a disk that does not answer, and ample, because on a machine with more
    /// to do than processors a start alone was seen to take 10 s.
    static let probeTimeout: Duration = .seconds(30)

    /// How many times its estimate a part of a movie may take.
    private static let partFactor = 5.0

    /// How long a child may take to start, on a machine with much else to do.
    private static let startTimeout: Duration = .seconds(60)

    init(
        _ child: RenderChild, among renders: RunningRenders, grant: MemoryGate.Grant,
        formats: FormatGaps, renderTimeout: Duration, logger: Logger,
        listener: @escaping WorkerEvent.Listener
    ) {
        self.child = child
        self.renders = renders
        self.grant = grant
        self.formats = formats
        self.logger = logger
        self.renderTimeout = renderTimeout
        self.listener = listener
    }

    /// What it was used for so far.
    var use: Use { used.withLock { $0 } }

    /// Reads the header of a photo and plans its render.
    func inspect(_ request: PhotoRequest, _ files: RenderFiles) async throws -> Inspection {
        // An automatic filter looks at all pixels to be planned.
        let reply = try await child.ask(
            .inspect(request), files,
            timeout: request.recipe.isAutomatic ? renderTimeout : Self.probeTimeout
        ).content
        switch reply {
        case .inspected(let inspection): return inspection
        case .refused(let failure): throw answered(failure, files, isRefusal: true)
        case .failed(let failure): throw answered(failure, files, isRefusal: false)
        case .progress, .rendered, .confined, .libraries: throw Self.confused()
        }
    }

    /// The child is given back.
    ///
    /// - Returns: whether it was killed meanwhile because memory is short.
    func giveBack() -> Bool {
        guard let number = used.withLock({ $0.number.take() }) else { return false }
        return renders.end(number)
    }

    /// What keeps it from doing harm.
    func confinement() async throws -> Confinement {
        let reply = try await child.ask(.confinement, RenderFiles(), timeout: Self.startTimeout)
            .content
        guard case .confined(let confinement) = reply else { throw Self.confused() }
        return confinement
    }

    /// The libraries that it decodes and encodes with.
    func libraries() async throws -> [LibraryVersion] {
        let reply = try await child.ask(.libraries, RenderFiles(), timeout: Self.startTimeout)
            .content
        guard case .libraries(let libraries) = reply else { throw Self.confused() }
        return libraries
    }

    /// Writes and reads a small picture in a format.
    ///
    /// - Throws: the reason why it cannot.
    func tryFormat(_ format: Recipe.Format) async throws {
        var files = RenderFiles()
        for name in ["a picture", "what is written of it", "what is read of it"] {
            files.outputs.append(try .inMemory(name: name))
        }
        _ = try await work(.tryFormat(format), files, timeout: Self.startTimeout)
    }

    /// Renders a photo into the files' outputs.
    ///
    /// - Parameters:
    ///   - inspection: the answer to the same request.
    ///   - progress: told what is done of it meanwhile.
    func render(
        _ request: PhotoRequest, _ files: RenderFiles, as inspection: Inspection,
        progress: @escaping @Sendable (RenderReply.Progress) -> Void = { _ in }
    ) async throws -> RenderUse {
        let isPart = request.outputs.contains { $0.segment != nil }
        let plan = inspection.plan
        let estimate = isPart ? plan.movie?.segment ?? plan.estimate : plan.estimate
        // A part of a movie may take longer than any photo.
        let usual = ProcessorSpeed.here.scaled(.seconds(estimate.cpuSeconds * Self.partFactor))
        let limit = min(
            isPart ? max(renderTimeout, usual) : renderTimeout, estimate.timeLimit(at: .here))
        let use = try await work(.render(request), files, timeout: limit, progress)
        listener(
            .rendered(
                use, inspection,
                isFull: !isPart && request.outputs.contains { $0.longestSide == nil }))
        return use
    }

    /// Draws a contact sheet into the files' one output.
    func draw(_ request: ContactSheetRequest, _ files: RenderFiles) async throws {
        _ = try await work(.contactSheet(request), files, timeout: renderTimeout)
    }

    private func work(
        _ work: RenderRequest.Work, _ files: RenderFiles, timeout: Duration,
        _ progress: @escaping @Sendable (RenderReply.Progress) -> Void = { _ in }
    ) async throws -> RenderUse {
        begin()
        let (reply, use) = try await child.ask(work, files, timeout: timeout, progress: progress)
        count(peak: use.peakMemoryBytes)
        switch reply {
        case .rendered: return use
        case .refused(let failure): throw answered(failure, files, isRefusal: true)
        case .failed(let failure): throw answered(failure, files, isRefusal: false)
        case .progress, .inspected, .confined, .libraries: throw Self.confused()
        }
    }

    private func answered(
        _ failure: Failure, _ files: RenderFiles, isRefusal: Bool
    ) -> AnsweredFailure {
        AnsweredFailure(
            failure: formats.explaining(failure, of: files.sources.first), isRefusal: isRefusal)
    }

    /// From its first pixel on it is one of the renders that run.
    private func begin() { used.withLock { $0.number = $0.number ?? renders.begin(child) } }

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

    /// What the reader of replies lets through answers the question.
    private static func confused() -> Failure {
        Failure(
            .internalError,
            "an answer to another question passed the checks of replies. Report this with the photo."
        )
    }
}

/// A failure that a child has answered: it lives on.
struct AnsweredFailure: Error {
    let failure: Failure
    /// Whether the child says that no decoder had opened the photo. One that lies about it serves on, as it would if it
    /// had answered a picture.
    let isRefusal: Bool

    /// Whether the child may be used again: no decoder stumbled.
    var leavesChild: Bool { isRefusal || failure.code == .exceedsMemoryBudget }
}
