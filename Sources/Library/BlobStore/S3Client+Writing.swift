import AsyncHTTPClient
public import Edits
import Logging
import NIOCore
import NIOHTTP1

extension S3Client {
    /// The largest object that can be copied. Source: Amazon S3, CopyObject.
    public static let copyBytesMax = 5 << 30

    @discardableResult
    public func put(
        _ key: BlobKey, _ source: BlobSource, digest: BlobDigest,
        if condition: BlobCondition = .always, _ attributes: BlobAttributes = BlobAttributes()
    ) async throws(BlobError) -> BlobTag {
        try check(key)
        guard source.size > configuration.wholePutBytesMax else {
            return try await exchange {
                self.wholePut(key, source, digest, condition, attributes)
            } _: { response throws(AttemptFailure) in
                try Self.tag(response)
            }
        }
        guard condition == .always else {
            throw BlobError(
                .invalid,
                "\(location.name(key)) has \(source.size) bytes; only objects of at most "
                    + "\(configuration.wholePutBytesMax) are written on a condition.")
        }
        return try await putParts(key, source, digest: digest, attributes)
    }

    func wholePut(
        _ key: BlobKey, _ source: BlobSource, _ digest: BlobDigest, _ condition: BlobCondition,
        _ attributes: BlobAttributes
    ) -> S3Request {
        var request = S3Request(
            method: .PUT, key: key, headers: configuration.headers(of: attributes),
            body: .range(source, 0..<source.size, digest), right: "s3:PutObject")
        request.headers += [
            ("x-amz-checksum-sha256", digest.base64), ("x-amz-meta-sha256", digest.hex),
        ]
        switch condition {
        case .always: break
        case .absent:
            request.headers.append(("if-none-match", "*"))
            request.isConditional = true
        case .unchanged(let tag):
            request.headers.append(("if-match", tag.text))
            request.isConditional = true
        }
        return request
    }

    /// Makes `target` an object with the content that `key` has under `tag`.
    ///
    /// Media type and digest are copied too. The object may have at most ``copyBytesMax`` bytes.
    @discardableResult
    public func copy(
        _ key: BlobKey, _ tag: BlobTag, to target: BlobKey,
        _ attributes: BlobAttributes = BlobAttributes()
    ) async throws(BlobError) -> BlobTag {
        try check(key)
        try check(target)
        let source = "\(configuration.url.bucket)/\(location.fullKey(key.text))"
            .percentEncoded(keeping: "/")
        var headers = configuration.headers(
            of: BlobAttributes(usesStorageClass: attributes.usesStorageClass))
        headers += [
            ("x-amz-copy-source", source), ("x-amz-copy-source-if-match", tag.text),
        ]
        if let owner = configuration.expectedBucketOwner {
            headers.append(("x-amz-source-expected-bucket-owner", owner))
        }
        return try await exchange {
            S3Request(
                method: .PUT, key: target, headers: headers,
                right: "s3:GetObject and s3:PutObject", failedCondition: .changed)
        } _: { response throws(AttemptFailure) in
            let result = try await Self.document(response, named: "CopyObjectResult")
            guard let tag = result.text(of: "ETag") else { throw .senseless("without ETag") }
            return BlobTag(tag)
        }
    }

    /// Returns the tag that a store assigned to the written object.
    static func tag(_ response: HTTPClientResponse) throws(AttemptFailure) -> BlobTag {
        guard let tag = response.headers.first(name: "etag") else {
            throw .senseless("without ETag")
        }
        return BlobTag(tag)
    }

    /// Reads an answer's document. An `<Error>` with status 200 is treated as a refusal.
    ///
    /// Stores send the status of copies and completions before they know the outcome.
    static func document(
        _ response: HTTPClientResponse, named name: String
    ) async throws(AttemptFailure) -> XMLNode {
        let bytes: [UInt8]
        do throws(TransportFailure) {
            bytes = try await response.bytes(atMost: XMLNode.bytesMax)
        } catch {
            throw .transport(error)
        }
        let document: XMLNode
        do throws(XMLNode.Malformed) {
            document = try XMLNode(document: bytes)
        } catch {
            throw .senseless("XML with \(error.reason)")
        }
        if document.name == "Error" {
            throw .refused(S3Refusal(status: 500, document: document))
        }
        guard document.name == name else {
            throw .senseless("<\(document.name.prefix(40))> where <\(name)> was expected")
        }
        return document
    }

    struct Part: Sendable {
        let number: Int
        let tag: BlobTag
        let digest: BlobDigest
    }

    /// Writes an object in parts, several of them concurrently.
    ///
    /// The object is invisible until the last request. After a failure the parts are removed; if
    /// that fails too, the bucket's rule for incomplete uploads removes them.
    func putParts(
        _ key: BlobKey, _ source: BlobSource, digest: BlobDigest, _ attributes: BlobAttributes
    ) async throws(BlobError) -> BlobTag {
        let upload = try await beginUpload(key, digest, attributes)
        do throws(BlobError) {
            let plan = MultipartPlan(size: source.size, partBytes: configuration.partBytes)
            let parts = try await concurrentMap(
                plan.parts.enumerated().map { ($0 + 1, $1) }, atOnce: configuration.partsAtOnce
            ) { number, range throws(BlobError) in
                try await self.putPart(number, range, of: source, key, upload)
            }
            return try await complete(
                upload, key, parts.sorted { $0.number < $1.number }, digest: digest,
                size: source.size)
        } catch {
            // A new task, so that it completes even if this one was cancelled.
            await Task { await self.abort(upload, key) }.value
            throw error
        }
    }

    private func beginUpload(
        _ key: BlobKey, _ digest: BlobDigest, _ attributes: BlobAttributes
    ) async throws(BlobError) -> String {
        let headers = configuration.headers(of: attributes)
        return try await exchange {
            S3Request(
                method: .POST, key: key, query: [("uploads", "")],
                headers: headers + [
                    ("x-amz-checksum-algorithm", "SHA256"), ("x-amz-meta-sha256", digest.hex),
                ], right: "s3:PutObject")
        } _: { response throws(AttemptFailure) in
            let result = try await Self.document(
                response, named: "InitiateMultipartUploadResult")
            guard let id = result.text(of: "UploadId"), !id.isEmpty else {
                throw .senseless("without UploadId")
            }
            return id
        }
    }

    private func putPart(
        _ number: Int, _ range: Range<Int>, of source: BlobSource, _ key: BlobKey,
        _ upload: String
    ) async throws(BlobError) -> Part {
        let digest = try await self.digest(of: source, range, key)
        return try await exchange {
            S3Request(
                method: .PUT, key: key,
                query: [("partNumber", String(number)), ("uploadId", upload)],
                headers: [("x-amz-checksum-sha256", digest.base64)],
                body: .range(source, range, digest), right: "s3:PutObject")
        } _: { response throws(AttemptFailure) in
            Part(number: number, tag: try Self.tag(response), digest: digest)
        }
    }

    private func digest(
        of source: BlobSource, _ range: Range<Int>, _ key: BlobKey
    ) async throws(BlobError) -> BlobDigest {
        var hash = SHA256()
        do {
            for try await piece in source.pieces(of: range) {
                piece.withUnsafeReadableBytes { hash.update(bufferPointer: $0) }
            }
        } catch let failure as LocalFailure {
            throw BlobError(
                .local,
                "The source of \(location.name(key)) cannot be read: "
                    + "\(failure.underlying)", cause: failure.underlying)
        } catch {
            throw BlobError(.cancelled, "The writing of \(location.name(key)) was cancelled.")
        }
        return BlobDigest(hash.finalize())
    }

    private func complete(
        _ upload: String, _ key: BlobKey, _ parts: [Part], digest: BlobDigest, size: Int
    ) async throws(BlobError) -> BlobTag {
        let list = parts.map {
            "<Part><PartNumber>\($0.number)</PartNumber><ETag>\(XMLText.escaped($0.tag.text))</ETag>"
                + "<ChecksumSHA256>\($0.digest.base64)</ChecksumSHA256></Part>"
        }
        let body = Array(
            ("<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
                + list.joined() + "</CompleteMultipartUpload>").utf8)
        do throws(BlobError) {
            let tag = try await exchange {
                S3Request(
                    method: .POST, key: key, query: [("uploadId", upload)],
                    headers: [("content-type", "application/xml")], body: .bytes(body),
                    right: "s3:PutObject")
            } _: { response throws(AttemptFailure) in
                try await Self.document(response, named: "CompleteMultipartUploadResult")
                    .text(of: "ETag")
            }
            if let tag, !tag.isEmpty { return BlobTag(tag) }
        } catch {
            // The upload no longer exists if an earlier completion succeeded and its answer was
            // lost.
            guard error.storeCode == "NoSuchUpload" else { throw error }
            let blob = try await head(key)
            guard blob.digest == digest, blob.size == size else { throw error }
            return blob.tag
        }
        // Ceph 16 answers without a tag.
        return try await head(key).tag
    }

    private func abort(_ upload: String, _ key: BlobKey) async {
        do throws(BlobError) {
            try await exchange {
                S3Request(
                    method: .DELETE, key: key, query: [("uploadId", upload)],
                    right: "s3:AbortMultipartUpload")
            } _: { _ in
            }
        } catch {
            logger.debug(
                "Parts of an upload that failed are left; the bucket's rule removes them.",
                metadata: ["s3.key": "\(key)", "error": "\(error)"])
        }
    }
}

/// The division of an object into the parts in which it is written.
struct MultipartPlan: Sendable, Hashable {
    /// The fewest bytes of a part other than the last. Source: Amazon S3, "Multipart upload
    /// limits".
    static let partBytesMin = 5 << 20
    /// The most parts. Source: as above.
    static let partsMax = 10_000

    /// The parts in order. Part numbers begin at 1.
    let parts: [Range<Int>]

    /// Divides `size` bytes into parts of `partBytes`, or of more bytes if there would be too
    /// many parts.
    init(size: Int, partBytes: Int) {
        let least = (size + Self.partsMax - 1) / Self.partsMax
        let bytes = max(Self.partBytesMin, partBytes, least)
        parts = stride(from: 0, to: size, by: bytes).map { $0..<min($0 + bytes, size) }
    }
}
