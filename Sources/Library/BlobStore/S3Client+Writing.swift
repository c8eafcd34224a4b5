import Edits
import AsyncHTTPClient
import NIOHTTP1

extension S3Client {
    /// The largest object that can be copied. Source: Amazon S3, CopyObject.
    public static let copyBytesMax = 5 << 30

    /// Writes an object atomically.
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

    /// Returns the request that writes a whole object.
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
        let source = PercentCoding.encoded(
            "\(configuration.url.bucket)/\(location.fullKey(key.text))", keepsSlash: true)
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
}
