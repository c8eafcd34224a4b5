import Adjustments
import BlobStore
import Files
import FoundationEssentials
import Logging
import SystemPackage

/// How a library in a bucket is used from this machine.
package struct BucketSettings {
    /// The library.
    var url: BlobURL?
    /// Where the originals are; nil: below the library, in `originals/`.
    var originals: BlobURL?
    /// The folder of this machine for downloads and for versions in the making.
    let scratch: FilePath
    /// Most bytes of downloads that are kept there.
    let scratchBytesMax: Int
    /// Whether renders are taken over from other assets.
    let sharesRenders: Bool
    /// The profile of the shared credentials file; nil: the environment's.
    let profile: String?
    private let caFile: String?
    private let encryption: S3Configuration.Encryption?
    private let storageClass: String?
    private let bucketOwner: String?
    private let requesterPays: Bool

    /// Where downloads lie when nobody says: on a disk, since `/tmp` is memory on many machines.
    private static let scratchDefault = "/var/tmp/minilab"

    /// Reads them.
    init(_ reader: inout SettingsReader) {
        scratch = FilePath(
            reader.value(
                .text(
                    "scratch", "a folder of this machine, for a library in a bucket",
                    default: Self.scratchDefault), or: Self.scratchDefault))
        scratchBytesMax = reader.value(
            .bytes("scratch.size", 64 << 20...64 << 40, default: "8G"), or: 8 << 30)
        sharesRenders = [.library, .tenants].contains(RenderReuse(&reader))
        profile = reader.optional(.text("s3.profile", "a profile of the AWS credentials file"))
        caFile = reader.optional(.text("s3.ca.file", "a PEM file of the authorities to trust"))
        let word = reader.value(
            .choice("s3.encryption", ["bucket", "store", "kms"], default: "bucket"), or: "bucket")
        let key = reader.optional(.text("s3.kms.key", "the id of a KMS key"))
        encryption =
            switch word {
            case "store": .store
            case "kms": .keyService(keyID: key)
            default: nil
            }
        if key != nil, word != "kms" {
            reader.refuse("s3.kms.key is set, and s3.encryption is \(word); expected kms")
        }
        storageClass = reader.optional(
            .text("s3.storage.class", "a storage class such as STANDARD_IA"))
        bucketOwner = reader.optional(.accountNumber("s3.bucket.owner"))
        requesterPays =
            reader.value(
                .choice("s3.requester.pays", ["true", "false"], default: "false"), or: "false")
            == "true"
    }

    /// Clients of the library and of the originals, the same one where both are in one place; close them.
    ///
    /// - Throws: `BlobError` for a CA file that cannot be read.
    func clients(_ logger: Logger) throws -> (store: S3Client, originals: S3Client) {
        guard let url else {
            throw Failure(.internalError, "a library in a bucket has no URL.")
        }
        let configurations = [url, originals].compactMap(\.self).map(configuration)
        let credentials = CredentialChain.standard(
            profile: profile, environment: ProcessInfo.processInfo.environment)
        let clients = try configurations.map {
            try S3Client($0, credentials: credentials, logger: logger)
        }
        return (clients[0], clients[clients.count - 1])
    }

    /// Finds out whether the scratch folder can be made and written.
    ///
    /// - Throws: `ioFailure`, `noSpace`.
    func checkScratch() throws(Failure) {
        let files = FileSystem()
        try files.makeFolder(scratch)
        _ = try OpenFile.nameless(in: scratch.string, name: "a file in \(scratch)")
    }

    /// How a bucket is talked to.
    private func configuration(of url: BlobURL) -> S3Configuration {
        var configuration = S3Configuration(url: url)
        configuration.caCertificateFile = caFile
        configuration.encryption = encryption
        configuration.storageClass = storageClass
        configuration.expectedBucketOwner = bucketOwner
        configuration.requesterPays = requesterPays
        return configuration
    }
}

extension Setting where Value == String {
    /// The number of an AWS account.
    fileprivate static func accountNumber(_ key: String) -> Self {
        Setting(
            key: key, expected: "the number of an account, 12 digits", defaultText: nil,
            parse: { text in
                let isNumber =
                    text.utf8.count == 12
                    && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
                return isNumber ? text : nil
            })
    }
}
