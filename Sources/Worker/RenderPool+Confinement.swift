public import Adjustments
import Logging
import RenderProtocol

extension RenderPool {
    /// Starts a child, and tells log and metrics what keeps children from doing harm on this machine.
    ///
    /// The child waits for the first job. One that does not answer is told, too, and does not keep the worker from
    /// jobs that need none.
    ///
    /// - Throws: `unconfined` when the worker was told to render nothing without what is missing.
    public func tellConfinement() async throws(Failure) {
        do {
            let confinement = try await lend(to: nil) { child in try await child.confinement() }
            listener(.confined(confinement))
            if confinement.gaps.isEmpty {
                logger.info("render children are confined")
            } else {
                logger.warning(
                    "render children are less confined than they can be; see \"Watch it\" in ops/RUNBOOK.md",
                    metadata: [
                        "missing":
                            "\(confinement.gaps.map { "\($0.measure.rawValue) (\($0.reason))" }.joined(separator: ", "))"
                    ])
            }
        } catch let failure as Failure where failure.code == .unconfined {
            throw failure
        } catch {
            logger.error("render children cannot work", metadata: ["error": "\(error)"])
        }
    }

    /// Refuses to lend a child that is not confined, if the worker was told to; the kernel is asked once.
    func insistOnConfinement(of child: LentChild) async throws {
        guard settings.requiresConfinement, !isConfined else { return }
        if let shortfall = try await child.confinement().shortfall {
            throw Failure(.unconfined, "\(shortfall)")
        }
        isConfined = true
    }
}
