import Edits
import NIOCore

extension S3Client {
    /// The largest object for which a second request is sent.
    static let hedgedBytesMax = 8 << 20

    /// Reads a small object, or a range of it, into memory.
    ///
    /// If the answer takes unusually long, a second request is sent (``HedgePolicy``). A whole
    /// object is compared with its digest, if the store knows it, and read again if it differs.
    public func bytes(
        _ key: BlobKey, _ range: Range<Int>? = nil, ifMatch tag: BlobTag? = nil, atMost limit: Int
    ) async throws(BlobError) -> BlobBytes {
        let first = try await hedged(key, range, tag, limit)
        guard range == nil, !first.isSound else { return first }
        let second = try await hedged(key, range, tag, limit)
        guard second.isSound else {
            throw BlobError(
                .corrupt,
                "\(location.name(key)) was read twice, and its bytes are not those of its SHA-256 "
                    + "\(second.blob.digest?.hex ?? ""): check memory and network, then the object."
            )
        }
        return second
    }

    private func hedged(
        _ key: BlobKey, _ range: Range<Int>?, _ tag: BlobTag?, _ limit: Int
    ) async throws(BlobError) -> BlobBytes {
        let begin = ContinuousClock.now
        let delay = limit <= Self.hedgedBytesMax ? hedgeDelay : nil
        let result = await withTaskGroup(of: Race.self) { group in
            var running = 1
            group.addTask { .ended(await self.collected(key, range, tag, limit)) }
            if let delay {
                group.addTask {
                    do { try await self.runtime.sleep(delay) } catch {
                        // The timer was cancelled because the first request has ended.
                        return .ended(nil)
                    }
                    return .late
                }
            }
            var last: Result<BlobBytes, BlobError>?
            while let event = await group.next() {
                switch event {
                case .late:
                    guard last == nil, payForHedge() else { continue }
                    running += 1
                    group.addTask { .ended(await self.collected(key, range, tag, limit)) }
                case .ended(let result?):
                    last = result
                    running -= 1
                    if running == 0 || !Self.leavesHope(result) {
                        group.cancelAll()
                        return result
                    }
                case .ended(nil): continue
                }
            }
            // The first request always ends, and returns above.
            return last ?? .failure(BlobError(.cancelled, "Reading was cancelled."))
        }
        let value = try result.get()
        hedgeSucceeded(after: ContinuousClock.now - begin)
        return value
    }

    private enum Race: Sendable {
        case late
        /// A request has ended; nil: the timer was not needed.
        case ended(Result<BlobBytes, BlobError>?)
    }

    /// Returns whether the other request may still succeed after this result.
    private static func leavesHope(_ result: Result<BlobBytes, BlobError>) -> Bool {
        guard case .failure(let error) = result else { return false }
        return error.code == .unavailable || error.code == .throttled
    }

    private func collected(
        _ key: BlobKey, _ range: Range<Int>?, _ tag: BlobTag?, _ limit: Int
    ) async -> Result<BlobBytes, BlobError> {
        struct TooLong: Error {}
        var bytes: [UInt8] = []
        do throws(BlobError) {
            let blob = try await get(key, range, ifMatch: tag) { piece in
                guard bytes.count + piece.readableBytes <= limit else { throw TooLong() }
                bytes.append(contentsOf: piece.readableBytesView)
            }
            return .success(BlobBytes(blob: blob, bytes: bytes))
        } catch {
            guard error.underlying is TooLong else { return .failure(error) }
            return .failure(
                BlobError(
                    .invalid,
                    "\(location.name(key)) has more than the \(limit) bytes that are expected of it."
                ))
        }
    }
}
