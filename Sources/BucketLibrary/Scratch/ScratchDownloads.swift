import Adjustments
import BlobStore
import Crypto
import Files
import Glibc
import NIOCore
import Synchronization
import SystemPackage

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
    }

    /// An object that is here.
    struct Arrival: Sendable {
        let lease: ScratchCache.Lease
        /// The content that was read.
        let tag: BlobTag
    }

    /// Bytes that are asked for when nobody knows how many there are: most photos have fewer, and a request for the
    /// length would cost a round trip.
    static let firstBytesMax = 32 << 20

    init(_ cache: ScratchCache) { self.cache = cache }

    /// Brings an object, or waits for a download of it that is under way.
    ///
    /// - Parameter id: the same for the same object.
    /// - Throws: the order's code when it is not there; `damagedVersion` when its bytes are not those recorded;
    ///   `exceedsLimit`, `noSpace`, `ioFailure`.
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
            return try await download(order)
        } catch {
            guard error.code == .noSpace, cache.evictIdle() else { throw error }
        }
        return try await download(order)
    }

    private func download(_ order: Order) async throws(Failure) -> Arrival {
        var admitted = order.bytes ?? min(Self.firstBytesMax, cache.bytesMax)
        try await cache.admit(admitted, for: order.name)
        let part = cache.newPart()
        do throws(Failure) {
            var reading = try Reading(order, part)
            if order.bytes != nil {
                try await reading.read(nil, atMost: admitted)
            } else {
                try await reading.read(first: admitted)
                if let size = reading.size, size > reading.bytes {
                    let rest = size - reading.bytes
                    if admitted + rest <= cache.bytesMax, cache.admitNow(rest) {
                        admitted += rest
                        try await reading.read(reading.bytes..<size, atMost: size)
                    } else {
                        // Waiting with bytes in hand could wait for itself.
                        cache.release(admitted)
                        admitted = 0
                        try await cache.admit(size, for: order.name)
                        admitted = size
                        reading = try Reading(order, part)
                        try await reading.read(nil, atMost: size)
                    }
                }
            }
            let (sha256, bytes, tag) = try await reading.finish()
            let held = admitted
            admitted = 0
            let lease = try await offPool { () throws(Failure) in
                try self.cache.settle(part, sha256: sha256, bytes: bytes, admitted: held)
            }
            return Arrival(lease: lease, tag: tag)
        } catch {
            if admitted > 0 { cache.release(admitted) }
            // The part stays only if the folder is gone.
            unlink(part.string)
            throw error
        }
    }
}

/// The bytes of an object on their way into a file.
private struct Reading: ~Copyable {
    private let order: ScratchDownloads.Order
    private let file: OpenFile
    private var hash = SHA256()
    /// The bytes that came.
    private(set) var bytes = 0
    private var written = 0
    private var blob: Blob?
    private var pending = ByteBuffer()

    /// Bytes that are written at one time.
    private static let writeBytes = 512 << 10

    /// The object's length, once it is known.
    var size: Int? { blob?.size }

    init(_ order: ScratchDownloads.Order, _ part: FilePath) throws(Failure) {
        self.order = order
        file = try FileSystem.saying(
            "making the file", part,
            OpenFile(opening: part.string, O_WRONLY | O_CREAT | O_TRUNC, name: order.name))
    }

    /// Reads the beginning of an object of unknown length, which may be empty.
    mutating func read(first count: Int) async throws(Failure) {
        do throws(Failure) {
            try await read(0..<count, atMost: count)
        } catch {
            // A range of an empty object is refused.
            guard error.code == .invalidValue else { throw error }
            let (store, key) = (order.store, order.key)
            let found = try await saying(missing: order.missing) { () throws(BlobError) in
                try await store.head(key)
            }
            guard found.size == 0 else { throw error }
            blob = found
        }
    }

    /// Reads a range, or all.
    mutating func read(_ range: Range<Int>?, atMost count: Int) async throws(Failure) {
        let (store, key, tag, missing) = (order.store, order.key, blob?.tag, order.missing)
        do throws(BlobError) {
            let found = try await store.get(key, range, ifMatch: tag) { piece in
                try await self.take(piece, atMost: count)
            }
            blob = found
        } catch {
            throw error.failure(missing: missing)
        }
    }

    private mutating func take(_ piece: ByteBuffer, atMost count: Int) async throws(Failure) {
        piece.withUnsafeReadableBytes { hash.update(bufferPointer: $0) }
        bytes += piece.readableBytes
        guard bytes <= count else {
            throw Failure(
                .damagedVersion,
                "\(order.name) has more than the \(count) bytes that it should have. Restore it from a backup."
            )
        }
        var piece = piece
        if pending.readableBytes == 0 { pending = piece } else { pending.writeBuffer(&piece) }
        if pending.readableBytes >= Self.writeBytes { try await write() }
    }

    private mutating func write() async throws(Failure) {
        let (file, pending, place) = (file, pending, written)
        guard pending.readableBytes > 0 else { return }
        try await offPool { () throws(Failure) in
            try pending.withUnsafeReadableBytes { bytes throws(Failure) in
                try file.write(bytes, at: place)
            }
        }
        written += pending.readableBytes
        self.pending = ByteBuffer()
    }

    /// Compares what came with what is recorded.
    mutating func finish() async throws(Failure) -> (sha256: String, bytes: Int, tag: BlobTag) {
        try await write()
        let digest = BlobDigest(hash.finalize())
        guard let blob, blob.size == bytes else {
            throw Failure(
                .ioFailure,
                "\(order.name) came with \(bytes) bytes; expected are \(blob?.size ?? 0). The job is retried."
            )
        }
        if let recorded = order.sha256, recorded != digest.hex {
            throw Failure(
                .damagedVersion,
                "the \(bytes) bytes of \(order.name) are not those that were recorded: SHA-256 \(digest.hex), expected "
                    + "\(recorded). Restore it from a backup.")
        }
        if let told = blob.digest, told != digest {
            throw Failure(
                .ioFailure,
                "the \(bytes) bytes of \(order.name) are not those that the store took: SHA-256 \(digest.hex), the store "
                    + "says \(told.hex). The job is retried.")
        }
        return (digest.hex, bytes, blob.tag)
    }
}
