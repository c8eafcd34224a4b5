import AsyncHTTPClient
public import NIOCore
import NIOHTTP1

extension S3Client {
    /// Describes the object with that name.
    public func head(_ key: BlobKey) async throws(BlobError) -> Blob {
        try check(key)
        return try await exchange {
            S3Request(
                method: .HEAD, key: key, headers: [("x-amz-checksum-mode", "ENABLED")],
                right: "s3:GetObject and s3:ListBucket", failedCondition: .changed)
        } _: { response throws(AttemptFailure) in
            try Self.blob(response.headers, size: response.headers.first(name: "content-length"))
        }
    }

    /// Reads an object, or a range of it, and passes its bytes to a sink in order.
    @discardableResult
    public func get(
        _ key: BlobKey, _ range: Range<Int>? = nil, ifMatch tag: BlobTag? = nil,
        into sink: (ByteBuffer) async throws -> Void
    ) async throws(BlobError) -> Blob {
        try check(key)
        if let range, range.isEmpty || range.lowerBound < 0 {
            throw BlobError(
                .invalid, "The range \(range) of \(location.name(key)) has no bytes: ask for some.")
        }
        var reading = Reading(range: range, tag: tag)
        return try await exchange {
            S3Request(
                method: .GET, key: key,
                headers: [("x-amz-checksum-mode", "ENABLED")] + reading.headers,
                right: "s3:GetObject and s3:ListBucket", failedCondition: .changed)
        } _: { response throws(AttemptFailure) in
            let blob = try reading.begin(response)
            do throws(AttemptFailure) {
                try await response.drain { piece throws(AttemptFailure) in
                    try reading.receive(piece)
                    do { try await sink(piece) } catch { throw .local(error) }
                }
            } catch {
                // If the body is already complete, an error at its end does not matter.
                guard case .transport = error, reading.isWhole else { throw error }
            }
            guard reading.isWhole else {
                throw .transport(TransportFailure(.lost, "the body is shorter than announced"))
            }
            return blob
        }
    }

    /// Rejects a key that is too long with the store's prefix.
    func check(_ key: BlobKey) throws(BlobError) {
        let count = location.fullKey(key.text).utf8.count
        guard count > BlobKey.bytesMax else { return }
        throw BlobError(
            .invalid,
            "The key \(key.text.prefix(64))… has \(count) bytes below the prefix of "
                + "\(configuration.url); a store keeps at most \(BlobKey.bytesMax): shorten the "
                + "prefix or the asset's path.")
    }

    /// Parses an answer's headers.
    static func blob(
        _ headers: HTTPHeaders, size: String?
    ) throws(AttemptFailure) -> Blob {
        guard let tag = headers.first(name: "etag"), let size = size.flatMap({ Int($0) }), size >= 0
        else {
            throw .senseless("without ETag or length")
        }
        let digest =
            headers.first(name: "x-amz-checksum-sha256").flatMap { BlobDigest(base64: $0) }
            ?? headers.first(name: "x-amz-meta-sha256").flatMap { BlobDigest(hex: $0) }
        return Blob(
            size: size, tag: BlobTag(tag), digest: digest,
            modified: headers.first(name: "last-modified").flatMap { BlobTime(httpDate: $0) })
    }
}
