import Adjustments
public import Logging
public import RenderProtocol

/// Warm render children: started when needed, used again, replaced before they grow old.
///
/// It holds as many as there were renders at the same time; the worker's slots bound that.
public actor RenderPool {
    struct Warm {
        let child: RenderChild
        var photos: Int
    }

    private let settings: WorkerSettings
    private let logger: Logger
    private(set) var idle: [Warm] = []

    /// How long a probe may take: it reads a header.
    public static let probeTimeout: Duration = .seconds(10)

    /// An empty pool.
    public init(settings: WorkerSettings, logger: Logger) {
        self.settings = settings
        self.logger = logger
    }

    /// Probes and renders a photo.
    ///
    /// - Parameter check: refuses a photo by its header, before the render starts.
    /// - Throws: a `Failure`, or `CancellationError` when the calling task was cancelled; the child
    ///   is dead then.
    public func render(
        _ request: PhotoRequest,
        checking check: @Sendable (PhotoHeader) async throws -> Void = { _ in }
    ) async throws -> RenderReport {
        try await withChild { child in
            let probe = ProbeRequest(
                source: request.source, recipe: request.recipe, limits: request.limits,
                resources: request.resources)
            let (header, plan) = try Self.probed(
                await child.ask(.probe(probe), timeout: Self.probeTimeout))
            try await check(header)
            let reply = try await child.ask(.render(request), timeout: self.settings.renderTimeout)
            switch reply {
            case .rendered(let report):
                try report.check(request, against: plan)
                return report
            case .failed(let failure): throw failure
            case .probed, .drawn: throw Self.confused(reply)
            }
        }
    }

    /// Reads the header of a photo and plans its render.
    public func probe(_ request: ProbeRequest) async throws -> (PhotoHeader, RenderPlan) {
        try await withChild { child in
            try Self.probed(await child.ask(.probe(request), timeout: Self.probeTimeout))
        }
    }

    /// Draws a contact sheet.
    public func draw(_ request: ContactSheetRequest) async throws {
        try await withChild { child in
            let reply = try await child.ask(
                .contactSheet(request), timeout: self.settings.renderTimeout)
            switch reply {
            case .drawn: return
            case .failed(let failure): throw failure
            case .probed, .rendered: throw Self.confused(reply)
            }
        }
    }

    /// Ends all idle children and waits until they are gone.
    public func close() async {
        let children = idle.map(\.child)
        idle = []
        for child in children { child.finish() }
        for child in children { await child.wait() }
    }

    private static func probed(_ reply: RenderReply) throws -> (PhotoHeader, RenderPlan) {
        switch reply {
        case .probed(let header, let plan): return (header, plan)
        case .failed(let failure): throw failure
        case .rendered, .drawn: throw confused(reply)
        }
    }

    private static func confused(_ reply: RenderReply) -> Failure {
        Failure(
            .internalError,
            "the render child answered another question than it was asked: \(reply). Are minilab "
                + "and minilab-render of one version?")
    }

    private func withChild<Result: Sendable>(
        _ body: (RenderChild) async throws -> Result
    ) async throws -> Result {
        var warm = take()
        do {
            let result = try await body(warm.child)
            warm.photos += 1
            keep(warm, peak: (result as? RenderReport)?.peakMemoryBytes ?? 0)
            return result
        } catch let failure as Failure where Self.leavesChildAlive(failure) {
            warm.photos += 1
            keep(warm, peak: 0)
            throw failure
        } catch {
            warm.child.kill(because: .cancelled)
            await warm.child.wait()
            throw error
        }
    }

    private func take() -> Warm {
        while let warm = idle.popLast() {
            if warm.child.isAlive { return warm }
        }
        return Warm(
            child: RenderChild(executable: settings.renderExecutable, logger: logger), photos: 0)
    }

    /// Whether a failure came as an answer: then the child waits for the next request.
    private static func leavesChildAlive(_ failure: Failure) -> Bool {
        switch failure.code {
        case .renderCrashed, .renderTimedOut, .outOfMemory, .internalError: false
        default: true
        }
    }

    private func keep(_ warm: Warm, peak: Int) {
        if warm.photos >= settings.photosPerChild || peak > settings.childBytesMax {
            warm.child.finish()
        } else {
            idle.append(warm)
        }
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
