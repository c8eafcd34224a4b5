import AsyncHTTPClient
public import Edits
import NIOHTTP1

extension S3Client {
    /// The most times that the probe is started, because of concurrent probes or lost answers.
    static let probesMax = 5

    /// Checks whether the store supports both conditions. Throws
    /// `conditionsIgnored` with the store's name if it does not.
    ///
    /// Some stores answer a conditional write with 200 and write in any case, which would lose
    /// edits. So nothing else is written before this call has returned. It leaves one small
    /// object.
    ///
    /// - Parameter key: An object that belongs to no asset, such as `edits/probe`.
    /// - Returns: The store's own name; nil if it does not report one.
    @discardableResult
    public func probe(_ key: BlobKey) async throws(BlobError) -> String? {
        for _ in 0..<Self.probesMax {
            _ = try await probeWrite(key, .absent)
            // The object exists now, whichever client wrote it.
            let (there, server) = try await named(key)
            guard let there else { continue }

            switch try await probeWrite(key, .absent) {
            case .refused: break
            case .written: throw ignored("If-None-Match: *", server)
            case .unknown: continue
            }
            // No store uses this tag: real ones have at least 32 digits.
            switch try await probeWrite(key, .unchanged(BlobTag("minilab-probe"))) {
            case .refused: break
            case .written: throw ignored("If-Match", server)
            case .unknown: continue
            }
            switch try await probeWrite(key, .unchanged(there.tag)) {
            case .written: return server
            // Another probe wrote in the meantime, or the store refuses the correct tag.
            case .refused, .unknown: continue
            }
        }
        throw BlobError(
            .conditionsIgnored,
            "\(location.name(key)) could not be written on its own tag in \(Self.probesMax) tries: the "
                + "store at \(location.authority) does not keep If-Match as it must, or is too busy."
        )
    }

    private enum ProbeOutcome { case written, refused, unknown }

    private func probeWrite(
        _ key: BlobKey, _ condition: BlobCondition
    ) async throws(BlobError) -> ProbeOutcome {
        // Different bytes each time, so that no tag recurs.
        let bytes = (0..<16).map { _ in UInt8.random(in: .min ... .max) }.hex
        do throws(BlobError) {
            try await put(key, Array(bytes.utf8), if: condition)
            return .written
        } catch {
            switch error.code {
            case .precondition: return .refused
            case .unknownFate: return .unknown
            case .misconfigured where error.storeCode == "NotImplemented":
                throw BlobError(
                    .conditionsIgnored,
                    "The store at \(location.authority) refuses conditional writes (501): the library "
                        + "needs If-None-Match and If-Match on PUT.", cause: error.cause)
            default: throw error
            }
        }
    }

    /// Returns the description of the object with that name, and the server's own name.
    private func named(_ key: BlobKey) async throws(BlobError) -> (Blob?, String?) {
        do throws(BlobError) {
            return try await exchange {
                S3Request(method: .HEAD, key: key, right: "s3:GetObject")
            } _: { response throws(AttemptFailure) in
                let blob = try Blob(
                    response.headers, size: response.headers.first(name: "content-length"))
                return (blob, response.headers.first(name: "server").map { String($0.prefix(80)) })
            }
        } catch {
            guard error.code == .notFound else { throw error }
            return (nil, nil)
        }
    }

    private func ignored(_ condition: String, _ server: String?) -> BlobError {
        BlobError(
            .conditionsIgnored,
            "The store at \(location.authority) (\(server ?? "it does not say its name")) ignores "
                + "\(condition) on PUT, so edits would be lost: use one that keeps it, such as Amazon "
                + "S3, R2, MinIO, Ceph or SeaweedFS.")
    }

    /// Returns the final error of a request.
    func explained(
        _ failure: AttemptFailure, as code: BlobErrorCode, _ request: S3Request,
        _ keys: Credentials?, _ tries: Int
    ) -> BlobError {
        let what = label(of: request) + (tries > 1 ? " failed \(tries) times" : " failed")
        switch failure {
        case .final(let error):
            guard code != error.code else { return error }
            return BlobError(
                code, "\(what): \(error.message) \(advice(code, request, nil))",
                cause: error.cause)
        case .local(let error):
            return BlobError(
                .local, "\(label(of: request)) ended because our own side failed: \(error)",
                cause: error)
        case .senseless(let reason):
            return BlobError(
                code,
                "\(what): the answer is not valid for S3: \(reason). Is \(location.authority) an S3 "
                    + "store and no proxy or website?")
        case .transport(let failure):
            return BlobError(
                code,
                "\(what): \(location.authority) \(Self.sentence(for: failure)). \(advice(code, request, nil))"
            )
        case .refused(let refusal):
            let advice = advice(code, request, refusal)
            return BlobError(
                code,
                "\(what) for the access key \(keys?.accessKey ?? ""): the store answered "
                    + "\(refusal.sentence). \(advice)", cause: refusal)
        }
    }

    private static func sentence(for failure: TransportFailure) -> String {
        switch failure.kind {
        case .notConnected: "cannot be reached (\(failure.reason))"
        case .tls: "did not pass the TLS check (\(withoutSourceLocation(failure.reason)))"
        case .lost: "ended the connection (\(failure.reason))"
        case .silent: "was silent or too slow (\(failure.reason))"
        case .malformed: "sent what cannot be read (\(failure.reason))"
        case .cancelled: "was left, because the call was cancelled"
        }
    }

    /// Removes the source location from BoringSSL's message: ` at /path/file.cc:297`.
    private static func withoutSourceLocation(_ reason: String) -> String {
        reason.replacing(#/ at [^ \])]+:[0-9]+/#, with: "")
    }

    private func advice(
        _ code: BlobErrorCode, _ request: S3Request, _ refusal: S3Refusal?
    ) -> String {
        switch code {
        case .notFound: return "There is no such object."
        case .precondition: return "Another client wrote it first: read it and decide again."
        case .changed: return "Another client replaced it while it was read: start again."
        case .denied:
            return switch refusal?.code {
            case "SignatureDoesNotMatch": "Check the secret key."
            case "InvalidAccessKeyId": "Check the access key."
            case "InvalidObjectState":
                "It is in an archive: restore it, then replay the job; minilab library check names rules that archive."
            default: "Its policy needs \(request.right)."
            }
        case .misconfigured: return misconfigured(refusal)
        case .throttled: return "It is asked for too much: fewer workers, or wait."
        case .unavailable: return "Check the endpoint and the network; it may pass."
        case .unknownFate: return "It may have been done: read before you judge."
        case .corrupt: return "Bytes are harmed on the way, twice: check memory and network."
        case .full: return "Make room, or raise the quota."
        case .invalid: return "The range must begin within the object."
        case .invalidURL, .invalidConfiguration, .noCredentials, .conditionsIgnored, .local,
            .cancelled:
            return ""
        }
    }

    private func misconfigured(_ refusal: S3Refusal?) -> String {
        guard let refusal else { return "Check https, the host's name and the CA file." }
        switch refusal.code {
        case "NoSuchBucket": return "Make the bucket \(configuration.url.bucket), or mend the URL."
        case "RequestTimeTooSkewed": return "Set this machine's clock."
        case "NotImplemented": return "This store cannot do what the library needs."
        default: break
        }
        if let region = refusal.region {
            return "The bucket is in \(region): write region=\(region) in the URL."
        }
        return "Check bucket, region, endpoint and encryption in the settings."
    }

    /// Returns the bucket's lifecycle rules; none if it has no document of rules.
    public func lifecycle() async throws(BlobError) -> BucketLifecycle {
        do throws(BlobError) {
            return try await exchange {
                S3Request(
                    method: .GET, key: nil, query: [("lifecycle", "")],
                    right: "s3:GetLifecycleConfiguration")
            } _: { response throws(AttemptFailure) in
                BucketLifecycle(
                    try await Self.document(response, named: "LifecycleConfiguration"))
            }
        } catch {
            guard error.storeCode == "NoSuchLifecycleConfiguration" else { throw error }
            return BucketLifecycle()
        }
    }

    /// Returns whether the bucket keeps old versions of objects that are replaced or removed.
    public func keepsVersions() async throws(BlobError) -> Bool {
        try await exchange {
            S3Request(
                method: .GET, key: nil, query: [("versioning", "")],
                right: "s3:GetBucketVersioning")
        } _: { response throws(AttemptFailure) in
            try await Self.document(response, named: "VersioningConfiguration")
                .text(of: "Status") == "Enabled"
        }
    }
}

/// The lifecycle rules by which a bucket removes objects.
public struct BucketLifecycle: Sendable, Hashable {
    public struct Rule: Sendable, Hashable {
        /// Its name; empty if it has none.
        public var name = ""
        /// The prefix of the keys to which it applies; empty means all.
        public var prefix = ""
        /// Whether it applies only to objects with certain tags.
        public var needsTags = false
        /// Whether it removes objects.
        public var expires = false
        /// The class to which it moves objects and from which they cannot be read immediately,
        /// such as `GLACIER`.
        public var archive: String?
        /// Whether it removes old versions of objects that were replaced or removed.
        public var expiresNoncurrent = false
        /// Whether it removes incomplete multipart uploads.
        public var abortsUploads = false

        public init() {}

        /// Returns whether it applies to all keys with a prefix.
        public func covers(_ prefix: String) -> Bool {
            !needsTags && prefix.utf8.starts(with: self.prefix.utf8)
        }

        /// Returns whether it applies to any key with a prefix.
        public func touches(_ prefix: String) -> Bool {
            covers(prefix) || !needsTags && self.prefix.utf8.starts(with: prefix.utf8)
        }
    }

    public var rules: [Rule] = []

    public init(_ rules: [Rule] = []) { self.rules = rules }
}

extension BucketLifecycle {
    /// Parses a store's document. Source: Amazon S3 API reference,
    /// GetBucketLifecycleConfiguration.
    init(_ document: XMLNode) {
        rules = document.children.compactMap { $0.name == "Rule" ? Rule($0) : nil }
    }
}

extension BucketLifecycle.Rule {
    /// The classes whose objects must be restored before they can be read. Source: Amazon S3,
    /// "Storage classes". Objects in GLACIER_IR can be read immediately.
    private static let archives: Set = ["GLACIER", "DEEP_ARCHIVE"]

    fileprivate init?(_ node: XMLNode) {
        guard node.text(of: "Status") == "Enabled" else { return nil }
        name = node.text(of: "ID") ?? ""
        let filter = node["Filter"]
        let all = filter?["And"] ?? filter
        prefix = all?.text(of: "Prefix") ?? node.text(of: "Prefix") ?? ""
        needsTags = all?["Tag"] != nil
        if let expiration = node["Expiration"] {
            // Without Days or Date, the rule only removes the delete markers of objects that are
            // already removed.
            expires = expiration["Days"] != nil || expiration["Date"] != nil
        }
        archive = node.children.lazy.filter { $0.name == "Transition" }
            .compactMap { $0.text(of: "StorageClass") }.first(where: Self.archives.contains)
        expiresNoncurrent = node["NoncurrentVersionExpiration"] != nil
        abortsUploads = node["AbortIncompleteMultipartUpload"] != nil
    }
}
