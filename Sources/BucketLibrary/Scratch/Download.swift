import Adjustments
import BlobStore
import Files
import Glibc
import SystemPackage

/// One download of an object into a scratch cache: its beginning, and then the rest in ranges that travel at one time.
///
/// Most photos are no longer than the beginning, and cost one request. All ranges are of the content that the first answer
/// was about: an object that is replaced meanwhile is read anew.
struct Download: Sendable {
    private let order: ScratchDownloads.Order
    private let cache: ScratchCache
    private let part: FilePath

    /// Bytes that are asked for first, also when nobody knows how many there are: a request for the length would cost a
    /// round trip.
    static let firstBytesMax = 8 << 20
    /// Bytes of a range of the rest.
    static let rangeBytes = 8 << 20
    /// Ranges that travel at one time. Source: 200 MB came in 1.3 s as a whole and in 0.6 s with 8 (SeaweedFS 4.48); a
    /// connection to a large store carries 60 to 90 MB/s.
    static let rangesAtOnce = 4
    /// Objects that are longer are looked at when the beginning is here.
    static let glanceBytesMin = 32 << 20
    /// Most times that an object is read anew because it was replaced.
    private static let startsMax = 3

    init(_ order: ScratchDownloads.Order, _ cache: ScratchCache) {
        (self.order, self.cache, part) = (order, cache, cache.newPart())
    }

    /// Brings it.
    func run() async throws(Failure) -> ScratchDownloads.Arrival {
        var admitted = order.bytes ?? min(Self.firstBytesMax, cache.bytesMax)
        try await cache.admit(admitted, for: order.name)
        do throws(Failure) {
            let (digest, tag) = try await readWhole(&admitted)
            let (held, bytes) = (admitted, digest.bytes)
            admitted = 0
            let lease = try await offPool { () throws(Failure) in
                try cache.settle(part, sha256: digest.hex, bytes: bytes, admitted: held)
            }
            return ScratchDownloads.Arrival(lease: lease, tag: tag)
        } catch {
            if admitted > 0 { cache.release(admitted) }
            // The part stays only if the folder is gone.
            unlink(part.string)
            throw error
        }
    }

    private typealias Digest = (hex: String, bytes: Int)

    private func readWhole(
        _ admitted: inout Int
    ) async throws(Failure) -> (Digest, BlobTag) {
        for _ in 0..<Self.startsMax {
            if let whole = try await read(&admitted) { return whole }
        }
        throw Failure(
            .ioFailure,
            "\(order.name) was replaced \(Self.startsMax) times while it was read. The job is retried; put originals in "
                + "their place once.")
    }

    /// - Returns: nil when the object was replaced meanwhile.
    private func read(_ admitted: inout Int) async throws(Failure) -> (Digest, BlobTag)? {
        try cache.makeFolder()
        let file = try FileSystem.saying(
            "making the file", part,
            OpenFile(opening: part.string, O_RDWR | O_CREAT | O_TRUNC, name: order.name))
        let first = min(admitted, Self.firstBytesMax)
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
        if let glance = order.glance, blob.size > Self.glanceBytesMin,
            let refusal = await glance(file, blob.size)
        {
            throw refusal
        }
        try await admit(blob.size, &admitted)
        guard try await readRest(first..<blob.size, of: blob, into: file) else { return nil }
        let digest = try await offPool { () throws(Failure) in try FileDigest.sha256(of: file) }
        return (try checked(digest, blob), blob.tag)
    }

    /// Admits all bytes of an object; those that it has already are given back before it waits, or it could wait for
    /// itself.
    private func admit(_ bytes: Int, _ admitted: inout Int) async throws(Failure) {
        let rest = bytes - admitted
        guard rest > 0 else { return }
        if bytes > cache.bytesMax || !cache.admitNow(rest) {
            cache.release(admitted)
            admitted = 0
            try await cache.admit(bytes, for: order.name)
        }
        admitted = bytes
    }

    /// Reads the beginning of an object, which may be empty.
    private func readBeginning(
        into beginning: inout RangeWriter, isWhole: Bool
    ) async throws(Failure) -> Blob {
        do throws(BlobError) {
            return try await beginning.read(
                from: order.store, order.key, isWhole ? nil : beginning.range, ifMatch: nil)
        } catch {
            // A range of an empty object is refused.
            guard error.code == .invalid else { throw error.failure(missing: order.missing) }
            let (store, key) = (order.store, order.key)
            let found = try await saying(missing: order.missing) { () throws(BlobError) in
                try await store.head(key)
            }
            guard found.size == 0 else { throw error.failure(missing: order.missing) }
            return found
        }
    }

    /// Reads the rest of an object.
    ///
    /// - Returns: false when the object was replaced meanwhile.
    private func readRest(
        _ range: Range<Int>, of blob: Blob, into file: OpenFile
    ) async throws(Failure) -> Bool {
        let ranges = stride(from: range.lowerBound, to: range.upperBound, by: Self.rangeBytes).map {
            $0..<min($0 + Self.rangeBytes, range.upperBound)
        }
        let (store, key, name, missing) = (order.store, order.key, order.name, order.missing)
        let areOfOne = try await eachOf(ranges, atOnce: Self.rangesAtOnce) {
            range throws(Failure) in
            var writer = RangeWriter(file, range)
            do throws(BlobError) {
                let part = try await writer.read(from: store, key, range, ifMatch: blob.tag)
                // A tag that stays while the length does not is no tag.
                if part.size != blob.size { return false }
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

    /// Compares what came with what is recorded.
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
        if let told = blob.digest, told.hex != digest.hex {
            throw Failure(
                .ioFailure,
                "the \(digest.bytes) bytes of \(order.name) are not those that the store took: SHA-256 \(digest.hex), "
                    + "the store says \(told.hex). The job is retried.")
        }
        return digest
    }
}
