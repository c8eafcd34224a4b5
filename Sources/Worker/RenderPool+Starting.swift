public import Adjustments
import Logging
public import RenderProtocol

/// Facts about render children that a worker finds out before it claims a job.
extension RenderPool {
    /// Starts a child, and tells log and metrics what keeps children from doing harm on this machine, which libraries they
    /// are made of, and which formats these fail to write and read.
    ///
    /// A child that does not answer is told, too, and does not keep the worker from jobs that need none.
    ///
    /// - Throws: `unconfined` when the worker was told to render nothing without what is missing.
    public func start() async throws(Failure) {
        do {
            let (confinement, libraries) = try await lend(to: nil) { child in
                (try await child.confinement(), try await child.libraries())
            }
            tell(confinement)
            listener(.libraries(libraries))
            logger.info(
                "libraries",
                metadata: Dictionary(
                    libraries.map { ($0.name, "\($0.version)") }, uniquingKeysWith: { $1 }))
        } catch let failure as Failure where failure.code == .unconfined {
            throw failure
        } catch {
            return logger.error("render children cannot work", metadata: ["error": "\(error)"])
        }
        formats = await tryFormats()
        tell(formats)
        // Few jobs need the libraries of all formats, which these children have loaded.
        await close()
    }

    /// The libraries that render children decode and encode with.
    public func libraries() async throws -> [LibraryVersion] {
        try await lend(to: nil) { child in try await child.libraries() }
    }

    /// Has every format that can be asked for written and read back once.
    public func tryFormats() async -> FormatGaps {
        var reasons: [Recipe.Format: String] = [:]
        for format in Recipe.Format.photos {
            if let reason = await trial(of: format) { reasons[format] = reason }
        }
        return FormatGaps(reasons)
    }

    /// Two, since a machine that is short of memory as the worker starts may have some a moment later.
    private static let trialsMax = 2
    /// Memory of writing and reading a picture of 64 pixels, 60 MB measured with all libraries loaded.
    private static let trialBytes = 96 << 20

    /// Why a format does not work; nil when it does.
    private func trial(of format: Recipe.Format) async -> String? {
        var reason: String?
        for _ in 0..<Self.trialsMax {
            do {
                try await lend(min(Self.trialBytes, gate.budget.bytes), to: nil) { child in
                    try await child.tryFormat(format)
                }
                return nil
            } catch let failure as Failure {
                reason = failure.message
            } catch {
                reason = "\(error)"
            }
        }
        return reason
    }

    private func tell(_ confinement: Confinement) {
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
    }

    private func tell(_ gaps: FormatGaps) {
        listener(.formats(gaps))
        for (format, reason) in gaps.reasons.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            logger.error(
                "a format cannot be written and read on this machine: its jobs fail with formatUnavailable",
                metadata: ["format": "\(format.rawValue)", "reason": "\(reason)"])
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
