import BlobStore
import Edits
import Files
import Glibc
import Library
import NIOCore
import Synchronization
import SystemPackage

/// One download of an object into a scratch cache: first its beginning, then the rest in concurrent ranges.
///
/// Most photos are no longer than the beginning and cost one request. All ranges must be of the content of the
/// first reply: an object that is replaced in the meantime is read again.
struct Download: Sendable {
    private let order: ScratchDownloads.Order
    private let cache: ScratchCache
    private let unfinished: FilePath

    /// The bytes of the first request, also if the length is unknown. A request for the length would cost a round
    /// trip.
    static let firstBytesMax = 8 << 20
    static let rangeBytes = 8 << 20
    /// The number of concurrent ranges. Source: 200 MB took 1.3 s as a whole and 0.6 s with 8 ranges (SeaweedFS
    /// 4.48); a connection to a large store transfers 60 to 90 MB/s.
    static let rangesAtOnce = 4
    /// The length from which on the beginning of an object is inspected before the rest is requested.
    static let checkedBytesMin = 32 << 20
    /// The most times that an object is read again because it was replaced.
    private static let startsMax = 3

    init(_ order: ScratchDownloads.Order, _ cache: ScratchCache) {
        (self.order, self.cache, unfinished) = (order, cache, cache.newFile())
    }

    func run() async throws(Failure) -> ScratchDownloads.Arrival {
        var reserved = order.bytes ?? min(Self.firstBytesMax, cache.bytesMax)
        try await cache.reserve(reserved, for: order.name)
        do throws(Failure) {
            let (digest, tag) = try await readWhole(&reserved)
            let (granted, bytes) = (reserved, digest.bytes)
            reserved = 0
            let lease = try await offPool { () throws(Failure) in
                try cache.settle(unfinished, sha256: digest.hex, bytes: bytes, reserved: granted)
            }
            return ScratchDownloads.Arrival(lease: lease, tag: tag)
        } catch {
            if reserved > 0 { cache.release(reserved) }
            // The file can only remain if the folder was removed.
            unlink(unfinished.string)
            throw error
        }
    }

    private typealias Digest = (hex: String, bytes: Int)

    private func readWhole(
        _ reserved: inout Int
    ) async throws(Failure) -> (Digest, BlobTag) {
        for _ in 0..<Self.startsMax {
            if let whole = try await read(&reserved) { return whole }
        }
        throw Failure(
            .ioFailure,
            "\(order.name) was replaced \(Self.startsMax) times while it was read. The job is retried; put originals "
                + "there once.")
    }

    /// - Returns: nil if the object was replaced in the meantime.
    private func read(_ reserved: inout Int) async throws(Failure) -> (Digest, BlobTag)? {
        try cache.makeFolder()
        let file = try FileSystem.open(
            unfinished, O_RDWR | O_CREAT | O_TRUNC, "making the file", name: order.name)
        let first = min(reserved, Self.firstBytesMax)
        var beginning = RangeWriter(file, 0..<first, isDigested: true)
        let blob = try await readBeginning(
            into: &beginning, isWhole: order.bytes.map { $0 <= first } ?? false)
        try await beginning.flush()
        guard order.bytes == nil || order.bytes == blob.size else {
            throw Failure(
                .damagedVersion,
                "\(order.name) has \(blob.size) bytes; recorded are \(order.bytes ?? 0). Restore it from a backup."
            )
        }
        guard blob.size > first else {
            let digest = (beginning.digest, beginning.bytes)
            return (try checked(digest, blob), blob.tag)
        }
        if let check = order.check, blob.size > Self.checkedBytesMin,
            let refusal = await check(file, blob.size)
        {
            throw refusal
        }
        try await reserve(blob.size, &reserved)
        guard try await readRest(first..<blob.size, of: blob, into: file) else { return nil }
        let digest = try await FileDigest.digest(of: file)
        return (try checked(digest, blob), blob.tag)
    }

    /// Reserves all bytes of an object. Bytes that it has reserved already are released before it waits; otherwise
    /// it could wait for itself.
    private func reserve(_ bytes: Int, _ reserved: inout Int) async throws(Failure) {
        let rest = bytes - reserved
        guard rest > 0 else { return }
        if bytes > cache.bytesMax || !cache.reserveNow(rest) {
            cache.release(reserved)
            reserved = 0
            try await cache.reserve(bytes, for: order.name)
        }
        reserved = bytes
    }

    /// Reads the beginning of an object, which may be empty.
    private func readBeginning(
        into beginning: inout RangeWriter, isWhole: Bool
    ) async throws(Failure) -> Blob {
        do throws(BlobError) {
            return try await beginning.read(
                from: order.store, order.key, isWhole ? nil : beginning.range, ifMatch: nil)
        } catch {
            // The store refuses a range of an empty object.
            guard error.code == .invalid else { throw error.failure(missing: order.missing) }
            let found = try await order.store.find(order.key, missing: order.missing)
            guard found.size == 0 else { throw error.failure(missing: order.missing) }
            return found
        }
    }

    /// Reads the rest of an object.
    ///
    /// - Returns: false if the object was replaced in the meantime.
    private func readRest(
        _ range: Range<Int>, of blob: Blob, into file: OpenFile
    ) async throws(Failure) -> Bool {
        let ranges = stride(from: range.lowerBound, to: range.upperBound, by: Self.rangeBytes).map {
            $0..<min($0 + Self.rangeBytes, range.upperBound)
        }
        let (store, key, name, missing) = (order.store, order.key, order.name, order.missing)
        let areOfOne = try await concurrentMap(ranges, atOnce: Self.rangesAtOnce) {
            range throws(Failure) in
            var writer = RangeWriter(file, range)
            do throws(BlobError) {
                let found = try await writer.read(from: store, key, range, ifMatch: blob.tag)
                // The store's tag is invalid if the length changes and the tag does not.
                if found.size != blob.size { return false }
            } catch {
                guard error.code == .changed else { throw error.failure(missing: missing) }
                return false
            }
            try await writer.flush()
            guard writer.bytes == range.count else {
                throw Failure(
                    .ioFailure,
                    "of the bytes \(range) of \(name) \(writer.bytes) came; expected are \(range.count). The job is "
                        + "retried.")
            }
            return true
        }
        return !areOfOne.contains(false)
    }

    /// Compares the received bytes with the record.
    private func checked(_ digest: Digest, _ blob: Blob) throws(Failure) -> Digest {
        guard blob.size == digest.bytes else {
            throw Failure(
                .ioFailure,
                "\(order.name) came with \(digest.bytes) bytes; expected are \(blob.size). The job is retried."
            )
        }
        if let recorded = order.sha256, recorded != digest.hex {
            throw Failure(
                .damagedVersion,
                "the \(digest.bytes) bytes of \(order.name) are not those that were recorded: SHA-256 \(digest.hex), "
                    + "expected \(recorded). Restore it from a backup.")
        }
        if let reported = blob.digest, reported.hex != digest.hex {
            throw Failure(
                .ioFailure,
                "the \(digest.bytes) bytes of \(order.name) are not those that the store received: SHA-256 \(digest.hex), "
                    + "the store reports \(reported.hex). The job is retried.")
        }
        return digest
    }
}

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

/// Writes a range of an object into a file, at the same offsets, as the bytes arrive.
struct RangeWriter {
    let range: Range<Int>
    private let file: OpenFile
    private var hash: SHA256?
    /// The number of received bytes.
    private(set) var bytes = 0
    private var written = 0
    /// The received buffers that are not written yet. They are kept apart, because joining them would copy each
    /// byte once more.
    private var pending: [ByteBuffer] = []
    private var pendingBytes = 0

    /// The number of bytes that are written at once.
    private static let writeBytes = 512 << 10

    /// - Parameter isDigested: whether to compute ``digest``.
    init(_ file: OpenFile, _ range: Range<Int>, isDigested: Bool = false) {
        (self.file, self.range) = (file, range)
        hash = isDigested ? SHA256() : nil
    }

    /// The SHA-256, in hex, of the received bytes; empty unless it was requested.
    var digest: String { hash.map { BlobDigest($0.finalize()).hex } ?? "" }

    /// Reads a range of an object, or all of it. It may be called once. ``flush()`` writes the last bytes.
    @discardableResult
    mutating func read(
        from store: any BlobStore, _ key: BlobKey, _ range: Range<Int>?, ifMatch tag: BlobTag?
    ) async throws(BlobError) -> Blob {
        try await store.get(key, range, ifMatch: tag) { piece in try await self.append(piece) }
    }

    private mutating func append(_ piece: ByteBuffer) async throws(Failure) {
        piece.withUnsafeReadableBytes { hash?.update(bufferPointer: $0) }
        bytes += piece.readableBytes
        guard bytes <= range.count else {
            throw Failure(
                .damagedVersion,
                "\(file.name) has more than the \(range.upperBound) bytes that it should have. Restore it from a backup."
            )
        }
        pending.append(piece)
        pendingBytes += piece.readableBytes
        if pendingBytes >= Self.writeBytes { try await flush() }
    }

    /// Writes the received bytes that are not written yet.
    mutating func flush() async throws(Failure) {
        let (file, pieces, first) = (file, pending, range.lowerBound + written)
        guard !pieces.isEmpty else { return }
        try await offPool { () throws(Failure) in
            var offset = first
            for piece in pieces {
                try piece.withUnsafeReadableBytes { bytes throws(Failure) in
                    try file.write(bytes, at: offset)
                }
                offset += piece.readableBytes
            }
        }
        written += pendingBytes
        (pending, pendingBytes) = ([], 0)
    }
}
