import Edits
import BlobStore
import Library
import Synchronization

/// Downloads objects into a scratch cache. Concurrent requests for one object share a download.
final class ScratchDownloads: Sendable {
    let cache: ScratchCache
    private let flights = Mutex<[ExactName: Flight]>([:])

    private typealias Flight = Task<Result<Arrival, Failure>, Never>

    /// A requested object.
    struct Order: Sendable {
        let store: any BlobStore
        let key: BlobKey
        /// The name of the object in messages.
        let name: String
        /// The recorded SHA-256 in hex, if there is one.
        var sha256: String?
        /// The recorded length, if there is one.
        var bytes: Int?
        /// The code for a missing object.
        let missing: FailureCode
        /// Inspects the beginning of a large object before the rest is downloaded.
        var check: BeginningCheck?
    }

    /// A downloaded object.
    struct Arrival: Sendable {
        let lease: ScratchCache.Lease
        /// The tag of the content that was read.
        let tag: BlobTag
    }

    init(_ cache: ScratchCache) { self.cache = cache }

    /// Downloads an object, or waits for a download of it that is in progress.
    ///
    /// - Parameter id: identifies the object.
    /// - Throws: the order's code if the object is missing; `damagedVersion` if its bytes differ from the record;
    ///   `exceedsLimit`, `noSpace`, `ioFailure`, `storeUnavailable`; the failure that the first caller's check
    ///   returned.
    func bring(_ id: String, _ order: Order) async throws(Failure) -> Arrival {
        let id = ExactName(id)
        let flight = flights.withLock { flights in
            if let flight = flights[id] { return flight }
            let flight = Flight {
                let result: Result<Arrival, Failure>
                do throws(Failure) {
                    result = .success(try await self.downloadMakingRoom(order))
                } catch {
                    result = .failure(error)
                }
                self.flights.withLock { $0[id] = nil }
                return result
            }
            flights[id] = flight
            return flight
        }
        return try await flight.value.get()
    }

    /// Downloads the object. If the disk is full, removes the files that are not open and tries once more.
    private func downloadMakingRoom(_ order: Order) async throws(Failure) -> Arrival {
        do throws(Failure) {
            return try await Download(order, cache).run()
        } catch {
            guard error.code == .noSpace, cache.evictIdle() else { throw error }
        }
        return try await Download(order, cache).run()
    }
}
