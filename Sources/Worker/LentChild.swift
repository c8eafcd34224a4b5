import Adjustments
import Logging
import RenderProtocol
import Synchronization

/// A render child that is lent for the requests of one job, one after the other.
///
/// One child for all of them, so that the photo's bytes are read once for its digest.
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
    private let logger: Logger
    private let renderTimeout: Duration
    private let listener: WorkerEvent.Listener
    private let used = Mutex(Use())

    /// How long a probe may take: it reads a header. A loop in its reader is ended by the child's own limit of
    /// processor time, after 4 s; this is for a disk that does not answer, and ample, because on a machine with more
    /// to do than processors a start alone was seen to take 10 s.
    static let probeTimeout: Duration = .seconds(30)

    /// How long a child may take to start, on a machine with much else to do.
    private static let startTimeout: Duration = .seconds(60)

    init(
        _ child: RenderChild, among renders: RunningRenders, grant: MemoryGate.Grant,
        renderTimeout: Duration, logger: Logger, listener: @escaping WorkerEvent.Listener
    ) {
        self.child = child
        self.renders = renders
        self.grant = grant
        self.logger = logger
        self.renderTimeout = renderTimeout
        self.listener = listener
    }

    /// What it was used for so far.
    var use: Use { used.withLock { $0 } }

    /// Whether this process is the one that was lent.
    func isSame(as child: RenderChild) -> Bool { self.child === child }

    /// Reads the header of a photo and plans its render.
    func probe(_ request: ProbeRequest) async throws -> (PhotoHeader, RenderPlan) {
        // An automatic filter looks at all pixels to be planned.
        let reply = try await child.ask(
            .probe(request),
            timeout: request.recipe.isAutomatic ? renderTimeout : Self.probeTimeout)
        switch reply {
        case .probed(let header, let plan): return (header, plan)
        case .failed(let failure): throw failure
        case .digested, .rendered, .drawn, .confined: throw Self.confused(reply)
        }
    }

    /// SHA-256 of a photo's bytes, in hex.
    func digest(of source: String) async throws -> String {
        let reply = try await child.ask(.digest(source: source), timeout: renderTimeout)
        switch reply {
        case .digested(let sha256): return sha256
        case .failed(let failure): throw failure
        case .probed, .rendered, .drawn, .confined: throw Self.confused(reply)
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
        let reply = try await child.ask(.confinement, timeout: Self.startTimeout)
        guard case .confined(let confinement) = reply else { throw Self.confused(reply) }
        return confinement
    }

    /// Renders a photo.
    ///
    /// - Parameter plan: what a probe of the same request answered; nil for a preview.
    func render(_ request: PhotoRequest, planned plan: RenderPlan?) async throws -> RenderReport {
        begin()
        let limit = min(renderTimeout, plan?.estimate.timeLimit(at: .here) ?? renderTimeout)
        let reply = try await child.ask(.render(request), timeout: limit)
        switch reply {
        case .rendered(let report):
            count(peak: report.peakMemoryBytes)
            listener(.rendered(report, isFull: request.longestSide == nil))
            if let plan { try report.check(request, against: plan) }
            return report
        case .failed(let failure): throw failure
        case .probed, .digested, .drawn, .confined: throw Self.confused(reply)
        }
    }

    /// Draws a contact sheet.
    func draw(_ request: ContactSheetRequest) async throws {
        begin()
        let reply = try await child.ask(.contactSheet(request), timeout: renderTimeout)
        count()
        switch reply {
        case .drawn: return
        case .failed(let failure): throw failure
        case .probed, .digested, .rendered, .confined: throw Self.confused(reply)
        }
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

    private static func confused(_ reply: RenderReply) -> Failure {
        Failure(
            .internalError,
            "the render child answered another question than it was asked: \(reply). Are minilab "
                + "and minilab-render of one version?")
    }
}

extension RenderReport {
    /// Refuses a full-size result that is not of the size that was planned: a preview is never passed off as the
    /// render.
    ///
    /// - Throws: `internalError`.
    func check(_ request: PhotoRequest, against plan: RenderPlan) throws(Failure) {
        guard request.longestSide != nil || output.size == plan.resultSize else {
            throw Failure(
                .internalError,
                "\(request.source) was rendered at \(output.size) pixels; expected \(plan.resultSize). It "
                    + "is not published; report this with the edit and the photo.")
        }
    }
}
