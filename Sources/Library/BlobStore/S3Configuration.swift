import AsyncHTTPClient
import Edits
import NIOCore
import NIOSSL

/// The location of a store, and the settings of all requests to it.
public struct S3Configuration: Sendable {
    /// The encryption of stored objects, if the bucket's own rule is not sufficient.
    public enum Encryption: Sendable, Hashable {
        /// With keys of the store (SSE-S3).
        case store
        /// With a key of its key service (SSE-KMS); nil means the account's default key.
        case keyService(keyID: String?)
    }

    public var url: BlobURL

    /// A PEM file with the certificate authorities to trust for `https`; nil means those of the
    /// system.
    public var caCertificateFile: String?

    /// The encryption of objects at rest; nil means the bucket's setting.
    public var encryption: Encryption?

    /// The storage class of objects that are written with ``BlobAttributes/usesStorageClass``,
    /// such as `STANDARD_IA`; nil means the store's default.
    public var storageClass: String?

    /// The account that must own the bucket, twelve digits. A bucket of another account is
    /// refused.
    public var expectedBucketOwner: String?

    /// Whether the client's account pays for requests to a bucket of another account.
    public var requesterPays = false

    /// The most concurrent requests; fewer after the store asked to slow down.
    public var requestsAtOnceMax = 64

    /// The longest wait for a connection, including its TLS handshake.
    public var connectTimeout = Duration.seconds(3)

    /// The longest silence of a server after it has received the request, and within its answer.
    public var silenceMax = Duration.seconds(5)

    /// The longest time during which a server may accept none of a request's bytes.
    public var uploadSilenceMax = Duration.seconds(10)

    /// How long an unused connection is kept. S3 closes its own after about 5 s.
    public var idleMax = Duration.seconds(4)

    public var triesMax = 5

    /// The largest object that is written by one request. Larger ones are written in parts.
    public var wholePutBytesMax = BlobCondition.bytesMax

    /// The size of a part, and of a range in a concurrent download; at least
    /// ``MultipartPlan/partBytesMin`` for parts.
    public var partBytes = 8 << 20

    /// The number of parts of one object that are transferred concurrently.
    public var partsAtOnce = 4

    public init(url: BlobURL) {
        self.url = url
    }

    /// The headers of every request.
    var commonHeaders: [(name: String, value: String)] {
        var headers: [(name: String, value: String)] = []
        if let expectedBucketOwner {
            headers.append(("x-amz-expected-bucket-owner", expectedBucketOwner))
        }
        if requesterPays { headers.append(("x-amz-request-payer", "requester")) }
        return headers
    }

    /// Returns the headers of a request that creates an object.
    func headers(of attributes: BlobAttributes) -> [(name: String, value: String)] {
        var headers: [(name: String, value: String)] = []
        if let mediaType = attributes.mediaType { headers.append(("content-type", mediaType)) }
        if attributes.usesStorageClass, let storageClass {
            headers.append(("x-amz-storage-class", storageClass))
        }
        switch encryption {
        case nil: break
        case .store: headers.append(("x-amz-server-side-encryption", "AES256"))
        case .keyService(let keyID):
            headers.append(("x-amz-server-side-encryption", "aws:kms"))
            if let keyID {
                headers.append(("x-amz-server-side-encryption-aws-kms-key-id", keyID))
            }
        }
        return headers
    }
}

extension S3Configuration {
    /// Returns the configuration of AsyncHTTPClient: HTTP/1.1, no redirects, and no repeats of
    /// its own, because ``Attempts`` decides on those.
    func transport() throws(BlobError) -> HTTPClient.Configuration {
        var http = HTTPClient.Configuration()
        http.httpVersion = .http1Only
        http.redirectConfiguration = .disallow
        http.decompression = .disabled
        http.timeout = HTTPClient.Configuration.Timeout(
            connect: TimeAmount(connectTimeout), read: TimeAmount(silenceMax),
            write: TimeAmount(uploadSilenceMax))
        http.connectionPool = HTTPClient.Configuration.ConnectionPool(
            idleTimeout: TimeAmount(idleMax),
            concurrentHTTP1ConnectionsPerHostSoftLimit: requestsAtOnceMax)
        http.connectionPool.retryConnectionEstablishment = false
        http.tlsConfiguration = try tls()
        return http
    }

    private func tls() throws(BlobError) -> TLSConfiguration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        guard let caCertificateFile else { return tls }
        do {
            tls.trustRoots = .certificates(
                try NIOSSLCertificate.fromPEMFile(caCertificateFile))
        } catch {
            throw BlobError(
                .invalidConfiguration,
                "The CA certificate file \(caCertificateFile) cannot be read as PEM (\(error)): "
                    + "check path, permissions and content.")
        }
        return tls
    }
}
