import Editing
import Edits
import JobQueue
import Library
import RenderProtocol
import Worker

/// A handler that waits instead of rendering, and publishes to an ``EffectLedger`` instead of a library.
struct EffectHandler: JobHandler {
    /// The ledger; nil to publish nothing.
    let effects: EffectLedger?
    let work: Duration

    /// Assets in this folder fail permanently in their first generation, so that there are jobs to replay.
    static let missing = "missing/"

    func make(
        _ claim: Claim, _ hold: HeldJob, _ desk: JobDesk
    ) async throws -> MadeJob {
        if let version = try published(claim.job, claim.generation) {
            return .nothing(
                .init(
                    mode: .replace, version: nil,
                    reason: "version \(version) is published already."))
        }
        if claim.generation == 1, claim.asset.hasPrefix(Self.missing) {
            throw Failure(.missingAsset, "\(claim.asset) is there from generation 2 on.")
        }
        if work > .zero { try await Task.sleep(for: work / 2) }
        TestPoint.midRender.reach()
        if work > .zero { try await Task.sleep(for: work / 2) }
        TestPoint.afterRender.reach()
        return .version(.init(ofNothing: claim), isDraft: false)
    }

    func publish(_ version: CommittedVersion) async throws(Failure) -> Publication {
        guard let effects else { return .published }
        do {
            switch try effects.publish(
                job: version.job, generation: version.generation, version: version.name)
            {
            case .published: return .published
            case .repeated: return .alreadyPublished
            // The same as for a library whose pointer has moved on: the next attempt finds the published version.
            case .conflict: return .publishedBefore("of this generation")
            }
        } catch {
            throw Failure(.ioFailure, "\(error)")
        }
    }

    func discard(_ hold: Hold) async throws(Failure) {}
    func sweep(_ hold: Hold) async throws(Failure) -> Bool { true }
    func reach() async throws(Failure) {}
    func staged() async throws(Failure) -> [Hold] { [] }

    /// Returns the version that an earlier hold published. A Redis that lost its last writes does not know it.
    private func published(_ job: String, _ generation: Int) throws(Failure) -> String? {
        do {
            return try effects?.version(of: job, generation)
        } catch {
            throw Failure(.ioFailure, "\(error)")
        }
    }
}
