import Edits
import Logging

/// Children that cannot be started are the trouble of the worker, and no fault of the photo that waits for one.
extension RenderPool {
    /// How often a start is tried: the second time without idle children, which hold threads and memory.
    private static let startsMax = 2
    /// The time between two trials while no child can be started, as for a store that is away.
    private static let startPause: Duration = .seconds(1)

    /// Starts a child.
    ///
    /// - Throws: `rendererUnavailable`. The pool then tries every second and reports when it can start children again.
    func startedChild() async throws(Failure) -> RenderProcess {
        var reason = ""
        for number in 1...Self.startsMax {
            if number > 1 { await endIdle() }
            let child = newChild()
            guard let refusal = await child.waitForStart() else { return child }
            reason = refusal
        }
        beginTrouble(reason)
        throw Failure(
            .rendererUnavailable,
            "no render child can be started: \(reason). Is \(executable) installed, and are there processes, threads and "
                + "memory left?")
    }

    private func newChild() -> RenderProcess {
        RenderProcess(executable: executable, logger: logger, listener: listener)
    }

    private func beginTrouble(_ reason: String) {
        guard starting == nil else { return }
        listener(.unavailable(reason))
        logger.error(
            "no render child can be started: no jobs are claimed until one can",
            metadata: ["program": "\(executable)", "error": "\(reason)"])
        starting = Task { await tryToStart(after: reason) }
    }

    private func tryToStart(after reason: String) async {
        var reason = reason
        while !Task.isCancelled {
            do {
                try await Task.sleep(for: Self.startPause)
            } catch {
                return  // the pool is closed
            }
            let child = newChild()
            let refusal = await child.waitForStart()
            child.finish()
            await child.wait()
            guard let refusal else { break }
            if refusal != reason { listener(.unavailable(refusal)) }
            reason = refusal
        }
        starting = nil
        listener(.unavailable(nil))
        logger.notice("render children can be started again")
    }
}
