import Logging
import RenderProtocol

extension RenderPool {
    /// Starts a child, and tells log and metrics what keeps children from doing harm on this machine.
    ///
    /// The child waits for the first job. One that does not answer is told, too, and does not keep the worker from
    /// jobs that need none.
    public func tellConfinement() async {
        do {
            let confinement = try await lend { child in try await child.confinement() }
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
        } catch {
            logger.error("render children cannot work", metadata: ["error": "\(error)"])
        }
    }
}
