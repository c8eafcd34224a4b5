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

    /// Reads them.
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
