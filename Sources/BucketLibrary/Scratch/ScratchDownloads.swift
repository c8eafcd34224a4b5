import Adjustments
import BlobStore
import Library
import Synchronization

/// Brings objects into a scratch cache, each once at a time however many ask for it.
final class ScratchDownloads: Sendable {
    let cache: ScratchCache
    private let flights = Mutex<[ExactName: Flight]>([:])

    private typealias Flight = Task<Result<Arrival, Failure>, Never>

    /// An object to be brought.
    struct Order: Sendable {
        let store: any BlobStore
        let key: BlobKey
        /// How sentences call it.
        let name: String
        /// SHA-256 in hex, where it is recorded.
        var sha256: String?
        /// Its length, where it is recorded.
        var bytes: Int?
        /// The code for an object that is not there.
        let missing: FailureCode
        /// Looks at the beginning of a large object before the rest is brought.
        var glance: Glance?
    }

    /// An object that is here.
    struct Arrival: Sendable {
        let lease: ScratchCache.Lease
        /// The content that was read.
        let tag: BlobTag
    }

    init(_ cache: ScratchCache) { self.cache = cache }

    /// Brings an object, or waits for a download of it that is under way.
    ///
    /// - Parameter id: the same for the same object.
    /// - Throws: the order's code when it is not there; `damagedVersion` when its bytes are not those recorded;
    ///   `exceedsLimit`, `noSpace`, `ioFailure`, `storeUnavailable`; what the glance of whoever asked first says.
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

    /// Downloads; on a disk that is full, once more without the files that nobody has open.
    private func downloadMakingRoom(_ order: Order) async throws(Failure) -> Arrival {
        do throws(Failure) {
            return try await Download(order, cache).run()
        } catch {
            guard error.code == .noSpace, cache.evictIdle() else { throw error }
        }
        return try await Download(order, cache).run()
    }
}
