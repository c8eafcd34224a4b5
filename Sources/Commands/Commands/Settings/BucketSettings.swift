import Edits
import BlobStore
import Files
import FoundationEssentials
import Logging
import SystemPackage

/// The settings of this machine for a library in a bucket.
package struct BucketSettings {
    /// The library's URL.
    var url: BlobURL?
    /// The originals' URL; nil for `originals/` below the library.
    var originals: BlobURL?
    /// The folder of this machine for downloads and for unfinished versions.
    let scratch: FilePath
    /// The most bytes of downloads that are kept there.
    let scratchBytesMax: Int
    /// Whether renders of other assets are reused.
    let sharesRenders: Bool
    /// The profile of the shared credentials file; nil for the environment's.
    let profile: String?
    private let caFile: String?
    private let encryption: S3Configuration.Encryption?
    private let storageClass: String?
    private let bucketOwner: String?
    private let requesterPays: Bool

    /// Reads the settings.
    init(_ reader: inout SettingsReader) {
        scratch = FilePath(reader.value(Settings.scratch))
        scratchBytesMax = reader.value(Settings.scratchSize)
        sharesRenders = [.library, .tenants].contains(reader.value(Settings.renderReuse))
        profile = reader.optional(Settings.s3Profile)
        caFile = reader.optional(Settings.s3CAFile)
        let encryptor = reader.value(Settings.s3Encryption)
        let key = reader.optional(Settings.s3KMSKey)
        encryption =
            switch encryptor {
            case .bucket: nil
            case .store: .store
            case .kms: .keyService(keyID: key)
            }
        if key != nil, encryptor != .kms {
            reader.refuse(
                "s3.kms.key is set, and s3.encryption is \(encryptor.rawValue); expected kms")
        }
        storageClass = reader.optional(Settings.s3StorageClass)
        bucketOwner = reader.optional(Settings.s3BucketOwner)
        requesterPays = reader.value(Settings.s3RequesterPays)
    }

    /// Returns clients of the library and of the originals, or the same client twice if both are in one bucket. The
    /// caller closes them.
    ///
    /// - Throws: `BlobError` if a CA file cannot be read.
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

    /// Checks that the scratch folder can be created and written.
    ///
    /// - Throws: `ioFailure`, `noSpace`.
    func checkScratch() throws(Failure) {
        let files = FileSystem()
        try files.makeFolder(scratch)
        _ = try OpenFile.nameless(in: scratch.string, name: "a file in \(scratch)")
    }

    /// Returns the configuration of the client for a bucket.
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
