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
    private let listener: WorkerEvent.Listener
    private(set) var idle: [Warm] = []

    /// An empty pool.
    public init(
        settings: WorkerSettings, logger: Logger,
        listener: @escaping WorkerEvent.Listener = { _ in }
    ) {
        self.settings = settings
        self.logger = logger
        self.listener = listener
    }

    /// Probes and renders a photo.
    ///
    /// - Throws: a `Failure`, or `CancellationError` when the calling task was cancelled; the child
    ///   is dead then.
    public func render(_ request: PhotoRequest) async throws -> RenderReport {
        try await lend { child in
            let (_, plan) = try await child.probe(
                ProbeRequest(
                    source: request.source, recipe: request.recipe, limits: request.limits,
                    resources: request.resources))
            return try await child.render(request, planned: plan)
        }
    }

    /// Reads the header of a photo and plans its render.
    public func probe(_ request: ProbeRequest) async throws -> (PhotoHeader, RenderPlan) {
        try await lend { child in try await child.probe(request) }
    }

    /// Draws a contact sheet.
    public func draw(_ request: ContactSheetRequest) async throws {
        try await lend { child in try await child.draw(request) }
    }

    /// Ends all idle children and waits until they are gone.
    public func close() async {
        let children = idle.map(\.child)
        idle = []
        for child in children { child.finish() }
        for child in children { await child.wait() }
    }

    /// Lends a child for the requests of one job.
    ///
    /// - Throws: what `body` throws; unless that came as the child's answer, the child is dead then.
    func lend<Result: Sendable>(
        _ body: @Sendable (LentChild) async throws -> Result
    ) async throws -> Result {
        var warm = take()
        let lent = LentChild(
            warm.child, renderTimeout: settings.renderTimeout, listener: listener)
        do {
            let result = try await body(lent)
            warm.photos += max(1, lent.use.photos)
            keep(warm, peak: lent.use.peakBytes)
            return result
        } catch let failure as Failure where Self.leavesChildAlive(failure) {
            warm.photos += max(1, lent.use.photos)
            keep(warm, peak: lent.use.peakBytes)
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
            child: RenderChild(
                executable: settings.renderExecutable, logger: logger, listener: listener),
            photos: 0)
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
