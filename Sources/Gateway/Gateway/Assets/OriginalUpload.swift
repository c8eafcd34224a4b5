import AccessKeys
import Edits
import Files
import FoundationEssentials
import HTTPTypes
import Hummingbird
import JobQueue
import Library
import NIOCore

/// `PUT /v1/originals/{asset…}`: stores a body as an original and holds only a small part of it in memory.
enum OriginalUpload {
    /// Bytes that must stay free on the disk, because renders need space, too.
    private static let bytesLeftFree = 1 << 30
    /// Bytes that are collected before a write: a call on another thread costs as much as copying this many bytes.
    private static let pieceBytes = 256 << 10

    static func put(_ call: Call) async throws -> Response {
        let (asset, key) = (try call.asset, try call.key)
        let bytes = try length(call)
        // An original is never replaced, so no existing bytes can match `If-Match`.
        guard call.header(.ifMatch) == nil else { throw isThere(asset) }
        let wanted: String?
        do throws(Failure) {
            wanted = try ContentDigest.sha256(call.request.headers[values: .contentDigest])
        } catch {
            throw Problem(.badParameter, error.message)
        }
        let permit = try call.parts.permits.upload(of: key)
        defer { permit.close() }
        let meter = UploadMeter(
            redis: call.parts.redis, queue: call.parts.queue.name,
            bytesPerDay: call.parts.settings.uploadBytesPerDay)
        let charge = try await charge(bytes, to: key, meter)
        do {
            let response = try await call.hidingPaths(of: asset) {
                try await receive(
                    call, OriginalArrival(asset, bytes: bytes, bytesLeftFree: bytesLeftFree),
                    wanted)
            }
            if response.status != .created { await giveBack(charge, meter) }
            return response
        } catch {
            await giveBack(charge, meter)
            throw error
        }
    }

    /// Refunds the quota for bytes that did not arrive.
    private static func giveBack(_ charge: UploadMeter.Charge, _ meter: UploadMeter) async {
        do throws(KeyError) {
            try await meter.refund(charge)
        } catch {
            // Redis is away. The day's counter keeps the bytes until it expires.
        }
    }

    private static func receive(
        _ call: Call, _ arrival: OriginalArrival, _ wanted: String?
    ) async throws -> Response {
        let library = call.parts.library
        var arrived: StoredDigest?
        let end = try await library.receive(arrival) { file throws(Failure) in
            let found = try await fill(file, arrival, call.request.body)
            guard wanted == nil || wanted == found.sha256 else {
                throw Failure(
                    .invalidValue,
                    "the body's SHA-256 is \(found.sha256), but Content-Digest names another. Send the original again."
                )
            }
            arrived = found
            return found
        }
        if let arrived, end == .added { return try answer(.created, arrival.asset, arrived) }
        // A client that did not receive the response sends the same original again.
        guard let wanted,
            let found = try await library.digest(of: .original(arrival.asset), isRead: false),
            found.sha256 == wanted, found.bytes == arrival.bytes
        else { throw isThere(arrival.asset) }
        if arrived == nil, !call.request.headers.contains(.expect) {
            // Few clients read a response before they have sent the whole body.
            for try await _ in call.request.body {}
        }
        return try answer(.ok, arrival.asset, found)
    }

    /// Returns the length of the body.
    ///
    /// - Throws: `lengthRequired`, `bodyTooLarge`, `badBody`.
    private static func length(_ call: Call) throws(Problem) -> Int {
        guard let bytes = call.header(.contentLength).flatMap({ Int($0) }) else {
            throw Problem(
                .lengthRequired,
                "The length of an original must be known before it arrives. Send Content-Length instead of a "
                    + "chunked body."
            )
        }
        let most = call.parts.settings.uploadBytesMax
        guard bytes <= most else {
            throw Problem(
                .bodyTooLarge, "The original has \(bytes) bytes; at most \(most) are taken.",
                facts: ["bytesMax": .number(Double(most))])
        }
        guard bytes > 0 else { throw Problem(.badBody, "The original has no bytes.") }
        return bytes
    }

    private static func charge(
        _ bytes: Int, to key: AccessKey, _ meter: UploadMeter
    ) async throws -> UploadMeter.Charge {
        switch try await meter.charge(bytes, to: key) {
        case .allowed(_, let charge): return charge
        case .refused(let left, let seconds):
            throw Problem(
                .uploadQuota,
                "Key \(key.id) may bring \(left) more bytes today, and this original has \(bytes). Send it after midnight "
                    + "UTC, or ask the operator for a larger quota.", retryAfter: seconds)
        }
    }

    private static func isThere(_ asset: AssetPath) -> Problem {
        Problem(
            .preconditionFailed,
            "There is an original at \(asset.string.debugDescription), and none is ever replaced. Choose another name, or "
                + "send the same bytes with their Content-Digest.")
    }

    private static func answer(
        _ status: HTTPResponse.Status, _ asset: AssetPath, _ digest: StoredDigest
    ) throws -> Response {
        .json(
            .object([
                "asset": .string(asset.string), "bytes": .number(Double(digest.bytes)),
                "sha256": .string(digest.sha256),
            ]), status: status, headers: [.location: "/v1/originals/\(asset.urlPath)"])
    }

    /// Writes the body to a file.
    ///
    /// - Throws: `invalidValue` if the client disconnects; `noSpace`, `ioFailure`.
    private static func fill(
        _ file: OpenFile, _ arrival: OriginalArrival, _ body: RequestBody
    ) async throws(Failure) -> StoredDigest {
        var hash = SHA256()
        var (piece, offset) = (ByteBuffer(), 0)
        var space = ArrivalSpace(of: arrival)
        var parts = body.makeAsyncIterator()
        while true {
            var part: ByteBuffer?
            do {
                part = try await parts.next()
            } catch {
                throw Failure(
                    .invalidValue, "the body broke off after \(offset + piece.readableBytes) bytes."
                )
            }
            if var more = part { piece.writeBuffer(&more) }
            guard part == nil || piece.readableBytes >= pieceBytes else { continue }
            let (bytes, at, before) = (piece, offset, (hash, space))
            (hash, space) = try await offPool { () throws(Failure) in
                var (hash, space) = before
                try space.reserve(upTo: at + bytes.readableBytes, in: file)
                let trouble = bytes.withUnsafeReadableBytes { bytes -> Failure? in
                    hash.update(bufferPointer: bytes)
                    do throws(Failure) { try file.write(bytes, at: at) } catch { return error }
                    return nil
                }
                if let trouble { throw trouble }
                return (hash, space)
            }
            offset += piece.readableBytes
            piece.clear()
            if part == nil { break }
        }
        let hex = hash.finalize().hex
        return StoredDigest(sha256: hex, bytes: offset)
    }
}
