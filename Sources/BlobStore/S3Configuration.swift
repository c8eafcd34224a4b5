/// Where a store is and what every request to it says.
public struct S3Configuration: Sendable {
    /// How the store encrypts what it is given, where the bucket's own rule is not enough.
    public enum Encryption: Sendable, Hashable {
        /// With keys of the store (SSE-S3).
        case store
        /// With a key of its key service (SSE-KMS); nil means the account's default key.
        case keyService(keyID: String?)
    }

    /// The bucket, the prefix and the server.
    public var url: BlobURL

    /// A PEM file with the authorities to trust for `https`; nil means those of the system.
    public var caCertificateFile: String?

    /// How objects are encrypted at rest; nil means as the bucket is set.
    public var encryption: Encryption?

    /// The storage class of what is written with ``BlobAttributes/usesStorageClass``, such as
    /// `STANDARD_IA`; nil means the store's default.
    public var storageClass: String?

    /// The account that must own the bucket, twelve digits; another one's bucket is refused.
    public var expectedBucketOwner: String?

    /// Whether our account pays for requests to somebody else's bucket.
    public var requesterPays = false

    /// The most requests at one time; fewer after the store asked to slow down.
    public var requestsAtOnceMax = 64

    /// The longest time to a connection, its TLS handshake included.
    public var connectTimeout = Duration.seconds(3)

    /// The longest silence of a server that has the whole request, and within its answer.
    public var silenceMax = Duration.seconds(5)

    /// The longest time for which a server may take none of a request's bytes.
    public var uploadSilenceMax = Duration.seconds(10)

    /// How long an unused connection is kept. S3 closes its own after about 5 s.
    public var idleMax = Duration.seconds(4)

    /// The most attempts of a request.
    public var triesMax = 5

    /// The largest object that is written by one request; above it in parts.
    public var wholePutBytesMax = BlobCondition.bytesMax

    /// The size of a part, and of a range that is read beside others; at least
    /// ``MultipartPlan/partBytesMin`` for parts.
    public var partBytes = 8 << 20

    /// The parts of one object that travel at one time.
    public var partsAtOnce = 4

    /// A configuration for the store at `url`, all else as its default says.
    public init(url: BlobURL) {
        self.url = url
    }

    /// The headers that every request has.
    var commonHeaders: [(name: String, value: String)] {
        var headers: [(name: String, value: String)] = []
        if let expectedBucketOwner {
            headers.append(("x-amz-expected-bucket-owner", expectedBucketOwner))
        }
        if requesterPays { headers.append(("x-amz-request-payer", "requester")) }
        return headers
    }

    /// The headers of a request that makes an object.
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

/// The properties of an object beside its bytes.
public struct BlobAttributes: Sendable, Hashable {
    /// The media type, such as `image/jpeg`; nil means that the store's default will do.
    public var mediaType: String?

    /// Whether ``S3Configuration/storageClass`` is for it; pointers are read too often for most.
    public var usesStorageClass: Bool

    /// Attributes of an object.
    public init(mediaType: String? = nil, usesStorageClass: Bool = false) {
        self.mediaType = mediaType
        self.usesStorageClass = usesStorageClass
    }
}
