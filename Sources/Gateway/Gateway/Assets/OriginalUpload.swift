import AccessKeys
import Edits
import Files
import FoundationEssentials
import HTTPTypes
import Hummingbird
import JobQueue
import Library
import NIOCore
import Synchronization

/// `PUT /v1/originals/{asset…}`: stores a body as an original and holds only a small part of it in memory.
enum OriginalUpload {
    /// Bytes that must stay free on the disk, because renders need space, too.
    private static let bytesLeftFree = 1 << 30
    /// Bytes that are collected before a write: a call on another thread costs as much as copying this many bytes.
    private static let pieceBytes = 256 << 10

    static func put(_ call: Call) async throws -> Response {
        let (asset, key) = (try call.asset, try call.key)
        let bytes = try length(call)
        try checkForm(call)
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
        let meter = call.parts.limits.uploads
        let charge = try await charge(bytes, to: key, meter)
        let arrived = ArrivedBytes()
        do {
            let response = try await call.hidingPaths(of: asset) {
                try await receive(
                    call, OriginalArrival(asset, bytes: bytes, bytesLeftFree: bytesLeftFree),
                    wanted, arrived)
            }
            if response.status != .created {
                await giveBack(charge, meter, keeping: arrived.bytes)
            }
            return response
        } catch {
            // The bytes that arrived cost work, whatever their end was. Only a failure of this side costs the client nothing.
            let isOurs = Problem(error).status.kind == .serverError
            await giveBack(charge, meter, keeping: isOurs ? 0 : arrived.bytes)
            if let refusal = arrived.refusal { throw refusal }
            throw error
        }
    }

    /// Refunds the quota for bytes that did not arrive, or that failed by no fault of the client.
    private static func giveBack(
        _ charge: UploadMeter.Charge, _ meter: UploadMeter, keeping kept: Int
    ) async {
        do throws(KeyError) {
            try await meter.refund(charge, keeping: kept)
        } catch {
            // Redis is away. The day's counter keeps the bytes until it expires.
        }
    }

    private static func receive(
        _ call: Call, _ arrival: OriginalArrival, _ wanted: String?, _ bytes: ArrivedBytes
    ) async throws -> Response {
        let library = call.parts.library
        var arrived: StoredDigest?
        let end = try await library.receive(arrival) { file throws(Failure) in
            let found = try await fill(file, arrival, bytes, call)
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
            let found = try await digest(of: arrival, call), found.sha256 == wanted,
            found.bytes == arrival.bytes
        else { throw isThere(arrival.asset) }
        if arrived == nil, !call.request.headers.contains(.expect) {
            try await drop(call, bytes)
        }
        return try answer(.ok, arrival.asset, found)
    }

    /// Returns the digest of an original that is there already; nil if it has another length than the one that arrives. A folder reads all of
    /// it for that, and the client has sent nothing of it yet.
    private static func digest(
        of arrival: OriginalArrival, _ call: Call
    ) async throws -> StoredDigest? {
        let library = call.parts.library
        let file = StoredFile.original(arrival.asset)
        guard try await library.info(of: file).bytes == arrival.bytes else { return nil }
        return try await call.parts.permits.walking(of: call.key) {
            try await library.digest(of: file, isRead: false)
        }
    }

    /// Reads the body of an original that is there already: few clients read a response before they have sent the whole body.
    ///
    /// - Throws: `invalidValue` if the client disconnects; `revokedKey`, `expiredKey`.
    private static func drop(_ call: Call, _ arrived: ArrivedBytes) async throws {
        do {
            for try await part in call.readable.body { arrived.add(part.readableBytes) }
        } catch let refusal as KeyError {
            throw refusal
        } catch {
            throw brokeOff(arrived)
        }
    }

    private static func brokeOff(_ arrived: ArrivedBytes) -> Failure {
        Failure(.invalidValue, "the body broke off after \(arrived.bytes) bytes.")
    }

    /// Refuses a form: its body would be kept with the boundaries and names around the file, under a name that is never free again.
    ///
    /// - Throws: `badBody`.
    private static func checkForm(_ call: Call) throws(Problem) {
        let type = (call.header(.contentType) ?? "").prefix { $0 != ";" }.lowercased()
            .split(separator: " ").joined()
        guard type.hasPrefix("multipart/") || type == "application/x-www-form-urlencoded" else {
            return
        }
        throw Problem(
            .badBody,
            "The body has the Content-Type \(String(type.prefix(100)).debugDescription), which is a form; an original is its bare "
                + "bytes. Send the file as the body with its own type or application/octet-stream, for example with curl -T photo.jpg."
        )
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
        _ file: OpenFile, _ arrival: OriginalArrival, _ arrived: ArrivedBytes, _ call: Call
    ) async throws(Failure) -> StoredDigest {
        var hash = SHA256()
        var (piece, offset) = (ByteBuffer(), 0)
        var space = ArrivalSpace(of: arrival)
        var parts = call.readable.body.makeAsyncIterator()
        while true {
            var part: ByteBuffer?
            do {
                part = try await parts.next()
            } catch let refusal as KeyError {
                arrived.refuse(refusal)
                throw Failure(.invalidValue, refusal.message)
            } catch {
                throw brokeOff(arrived)
            }
            if var more = part {
                arrived.add(more.readableBytes)
                piece.writeBuffer(&more)
            }
            guard part == nil || piece.readableBytes >= pieceBytes else { continue }
            guard call.channel.isActive else { throw brokeOff(arrived) }
            let (bytes, at, before) = (piece, offset, (hash, space))
            let writings = call.parts.permits.writings
            let owner: FairShare.Owner
            do {
                owner = try call.key.owner
                try await writings.enter(owner)
            } catch {
                // Its task is cancelled: fewer uploads than may wait are permitted.
                throw brokeOff(arrived)
            }
            defer { writings.leave(owner) }
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

/// The bytes of an original that arrived, for its quota.
private final class ArrivedBytes: Sendable {
    private struct State {
        var bytes = 0
        var refusal: KeyError?
    }

    private let state = Mutex(State())

    func add(_ bytes: Int) { state.withLock { $0.bytes += bytes } }

    /// Notes why the key is accepted no more, which the library does not know.
    func refuse(_ refusal: KeyError) { state.withLock { $0.refusal = refusal } }

    var bytes: Int { state.withLock { $0.bytes } }

    var refusal: KeyError? { state.withLock { $0.refusal } }
}
