import AccessKeys
import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization

/// The memory of answers that are made whole, shared by tenants: each is held until its client has read it.
///
/// A client that reads nothing is disconnected after some five minutes (``BorderLimits/bytesPerSecondMin``). A list of replays has MBs, and
/// a tenant has 2,000 connections. Files and events are sent in pieces instead, one of which is held.
final class AnswerMemory: Sendable {
    /// The bytes of one place. Answers below that are bounded by the connections.
    static let placeBytes = 64 << 10
    /// The most bytes of all answers above that together: a quarter of what compose gives a gateway.
    static let bytesMax = 256 << 20

    private let places: Mutex<FairShare>

    init(bytesMax: Int = AnswerMemory.bytesMax) {
        let count = bytesMax / Self.placeBytes
        places = Mutex(FairShare(.init(all: count, reserve: count / 16)))
    }

    /// The number of places that are held.
    var count: Int { places.withLock { $0.count } }

    /// The places of one answer, given back by ``close()`` or by the deinitializer.
    final class Lease: Sendable {
        private let memory: AnswerMemory
        private let owner: FairShare.Owner
        private let count: Mutex<Int>

        fileprivate init(_ memory: AnswerMemory, _ owner: FairShare.Owner, _ count: Int) {
            (self.memory, self.owner) = (memory, owner)
            self.count = Mutex(count)
        }

        deinit { close() }

        /// Gives the places back; a repeated call does nothing.
        func close() {
            let held = count.withLock { count in
                defer { count = 0 }
                return count
            }
            memory.giveBack(held, of: owner)
        }
    }

    /// Returns places for an answer; nil if its owner gets no more as long as others are not read.
    func take(_ bytes: Int, for owner: FairShare.Owner) -> Lease? {
        let wanted = (bytes + Self.placeBytes - 1) / Self.placeBytes
        let isThere = places.withLock { places in
            for taken in 0..<wanted where !places.take(owner) {
                for _ in 0..<taken { places.giveBack(owner) }
                return false
            }
            return true
        }
        return isThere ? Lease(self, owner, wanted) : nil
    }

    private func giveBack(_ count: Int, of owner: FairShare.Owner) {
        places.withLock { places in
            for _ in 0..<count { places.giveBack(owner) }
        }
    }

    /// Returns the body of a response, which holds its places until the kernel has accepted it.
    ///
    /// - Throws: `tooManyRequests`.
    func counted(
        _ response: Response, for owner: FairShare.Owner, over channel: any Channel
    ) throws(Problem) -> ResponseBody {
        guard let bytes = response.body.contentLength, bytes > Self.placeBytes,
            response.isMadeWhole
        else { return response.body }
        guard let lease = take(bytes, for: owner) else {
            throw Problem(
                .tooManyRequests,
                "Too many large answers wait for their readers. Read those that were asked for, then ask again.",
                retryAfter: 1)
        }
        let body = response.body
        return ResponseBody(contentLength: bytes) { writer in
            defer { lease.close() }
            try await body.write(writer)
            do { try await channel.drain() } catch {
                // The connection has ended, and holds nothing.
            }
        }
    }
}

extension Response {
    /// Whether the body is in memory as a whole: a document or a page.
    fileprivate var isMadeWhole: Bool {
        let type = headers[.contentType] ?? ""
        return type.hasPrefix("application/json") || type.hasPrefix("text/html")
    }
}
