import Edits
import BlobStore
import Library

/// A head as it was read, with its tag.
struct TaggedHead: Sendable {
    let head: AssetHead
    /// The tag; nil if there was no head.
    let tag: BlobTag?
}

extension BucketLibrary {
    /// The most times that a change is decided. Each repetition means that the asset was changed in the meantime.
    private static let roundsMax = 16
    /// The most writes with an unknown result in one change, after which the store counts as faulty.
    private static let unknownsMax = 3

    /// Reads the head of an asset. A missing head is an empty one.
    func head(of asset: AssetPath) async throws(Failure) -> TaggedHead {
        let key = try keys.head(of: asset)
        var tagged = TaggedHead(head: AssetHead(), tag: nil)
        let found: BlobBytes?
        do throws(BlobError) {
            found = try await store.bytes(key, nil, ifMatch: nil, atMost: AssetHead.bytesMax)
        } catch {
            switch error.code {
            case .notFound: found = nil
            // Longer than any head that Minilab writes.
            case .invalid: throw Failure(.damagedVersion, error.message)
            default: throw error.failure()
            }
        }
        if let found {
            tagged = TaggedHead(
                head: try AssetHead(reading: found.bytes, at: location(key)), tag: found.blob.tag)
        }
        heads.set(ExactName(asset), tagged, cost: Self.headCost(found?.bytes.count))
        return tagged
    }

    /// Returns the cost of caching a head, whose values need some memory even if its bytes are few.
    private static func headCost(_ bytes: Int?) -> Int { 4_096 + (bytes ?? 0) }

    /// Changes a head: decides, writes if the head is unchanged, and decides again if it was changed.
    ///
    /// An answer without a write is based on a head that was just read; a write may be based on a cached head.
    /// After a write with an unknown result the head is read, which reveals the result. The same decision on the
    /// same head writes the same bytes, so a delayed write does no harm.
    func change<Answer: Sendable & Equatable>(
        _ asset: AssetPath,
        _ decide: (TaggedHead) async throws(Failure) -> HeadDecision<Answer>
    ) async throws(Failure) -> Answer {
        var known = heads[ExactName(asset)]
        var unknowns: [Failure] = []
        for _ in 0..<Self.roundsMax {
            let isFresh = known == nil
            let tagged: TaggedHead
            if let known { tagged = known } else { tagged = try await head(of: asset) }
            known = nil
            switch try await decide(tagged) {
            case .answer(let answer): if isFresh { return answer }
            case .write(let next, let answer):
                if unknowns.count == Self.unknownsMax { throw unknowns[0] }
                switch try await write(next, over: tagged, asset) {
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
        /// Another process has changed the head.
        case lost
        /// It is unknown whether the write took effect.
        case unknown(Failure)
    }

    /// Replaces a head.
    private func write(
        _ head: AssetHead, over tagged: TaggedHead, _ asset: AssetPath
    ) async throws(Failure) -> WriteOutcome {
        let key = try keys.head(of: asset)
        let bytes = try head.encoded()
        heads.remove(ExactName(asset))
        do throws(BlobError) {
            let tag = try await store.put(
                key, bytes, if: tagged.tag.map { .unchanged($0) } ?? .absent,
                BlobAttributes(mediaType: "application/json"))
            heads.set(
                ExactName(asset), TaggedHead(head: head, tag: tag), cost: Self.headCost(bytes.count)
            )
            return .written
        } catch {
            switch error.code {
            // The head has another tag than the cached one, or is missing.
            case .precondition, .changed, .notFound: return .lost
            case .unknownFate: return .unknown(error.failure())
            default: throw error.failure()
            }
        }
    }
}
