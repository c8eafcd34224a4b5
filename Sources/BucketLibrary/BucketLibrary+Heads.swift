import Adjustments
import BlobStore
import Library

/// A head as it was read, and its tag.
struct HeldHead: Sendable {
    let head: AssetHead
    /// Nil when there was none.
    let tag: BlobTag?
}

extension BucketLibrary {
    /// Most times that a change is decided: each time somebody else has changed the asset meanwhile.
    private static let roundsMax = 16
    /// Most writes of one change whose fate nobody knows: then the store is in trouble.
    private static let unknownsMax = 3

    /// Reads the head of an asset; one that is not there is an empty one.
    func head(of asset: AssetPath) async throws(Failure) -> HeldHead {
        let key = try keys.head(of: asset)
        var held = HeldHead(head: AssetHead(), tag: nil)
        let found: BlobBytes?
        do throws(BlobError) {
            found = try await store.bytes(key, nil, ifMatch: nil, atMost: AssetHead.bytesMax)
        } catch {
            switch error.code {
            case .notFound: found = nil
            // Longer than any that we write.
            case .invalid: throw Failure(.damagedVersion, error.message)
            default: throw error.failure()
            }
        }
        if let found {
            held = HeldHead(
                head: try AssetHead(reading: found.bytes, at: place(key)), tag: found.blob.tag)
        }
        heads.set(ExactName(asset), held, cost: Self.headCost(found?.bytes.count))
        return held
    }

    /// The cost of remembering a head, whose values take some memory even when its bytes are few.
    private static func headCost(_ bytes: Int?) -> Int { 4_096 + (bytes ?? 0) }

    /// Changes a head: decides, writes if nobody else has, and decides anew if somebody has.
    ///
    /// An answer is given on a head that was just read; a write may be tried on one that was read before. After a write
    /// whose fate is unknown the head is read, which tells; the same decision on the same head writes the same bytes,
    /// so a late one does no harm.
    func change<Answer: Sendable & Equatable>(
        _ asset: AssetPath,
        _ decide: (HeldHead) async throws(Failure) -> HeadDecision<Answer>
    ) async throws(Failure) -> Answer {
        var known = heads[ExactName(asset)]
        var unknowns: [Failure] = []
        for _ in 0..<Self.roundsMax {
            let isFresh = known == nil
            let held: HeldHead
            if let known { held = known } else { held = try await head(of: asset) }
            known = nil
            switch try await decide(held) {
            case .answer(let answer): if isFresh { return answer }
            case .write(let next, let answer):
                if unknowns.count == Self.unknownsMax { throw unknowns[0] }
                switch try await write(next, over: held, asset) {
                case .written: return answer
                case .lost: break
                case .unknown(let failure): unknowns.append(failure)
                }
            }
        }
        throw Failure(
            .ioFailure,
            "\(asset.string.debugDescription) was changed by others \(Self.roundsMax) times in a row. The job is "
                + "retried.")
    }

    private enum WriteOutcome {
        case written
        /// Somebody else has changed the head.
        case lost
        /// Nobody knows whether it happened.
        case unknown(Failure)
    }

    /// Replaces a head.
    private func write(
        _ head: AssetHead, over held: HeldHead, _ asset: AssetPath
    ) async throws(Failure) -> WriteOutcome {
        let key = try keys.head(of: asset)
        let bytes = try head.encoded()
        heads.forget(ExactName(asset))
        do throws(BlobError) {
            let tag = try await store.put(
                key, bytes, if: held.tag.map { .unchanged($0) } ?? .absent,
                BlobAttributes(mediaType: "application/json"))
            heads.set(
                ExactName(asset), HeldHead(head: head, tag: tag), cost: Self.headCost(bytes.count))
            return .written
        } catch {
            switch error.code {
            // There is no head any more to compare with: also another one than we know.
            case .precondition, .changed, .notFound: return .lost
            case .unknownFate: return .unknown(error.failure())
            default: throw error.failure()
            }
        }
    }
}
