import ArgumentParser
package import BlobStore
import Edits
import Files
import FoundationEssentials
import JobQueue
import Library
import Logging
import RenderPool
package import SystemPackage
import Telemetry
import Worker

struct LibraryOptions: ParsableArguments {
    @Option(Settings.library) var library: FlagValue?
    @Option(Settings.originals) var originals: FlagValue?
    @Option(help: "A JSON file of settings, such as the workers'.") var settings: String?

    /// Opens the library that flags, environment or settings file name, passes it to `body`, and closes it.
    ///
    /// - Parameter more: settings from other flags of the command.
    func withLibrary<Result>(
        settings more: [FlagValue] = [], _ body: (OpenLibrary) async throws -> Result
    ) async throws -> Result {
        let (location, settings, logger) = try read(more)
        let open = try await OpenStore.open(location, for: .reading, logger)
        do {
            let result = try await body(
                OpenLibrary(library: open.library, settings: settings, logger: logger))
            await open.close()
            return result
        } catch {
            await open.close()
            throw error
        }
    }

    /// Reads the settings of the library and of the commands that inspect it, from flags, environment and file.
    ///
    /// - Parameter more: settings from other flags of the command.
    func read(
        _ more: [FlagValue] = []
    ) throws -> (location: LibraryLocation, settings: WorkerSettings, logger: Logger) {
        try Self.read(FlagValue.all(in: self) + more, file: settings)
    }

    /// Reads the same settings for a command that has other flags.
    ///
    /// - Parameters:
    ///   - file: the settings file; nil for the one that the environment names.
    ///   - keys: settings that only flags may set.
    static func read(
        _ given: [FlagValue], file: String?, onlyFlags keys: [String] = []
    ) throws -> (location: LibraryLocation, settings: WorkerSettings, logger: Logger) {
        var source = try SettingsSource(given, file: SettingsSource.file(file))
        for key in keys { source.remove(key) }
        var reader = SettingsReader(source)
        // The environment and the settings file of workers may contain other settings, valid or not.
        reader.passOverQueueSettings()
        let settings = WorkerSettings(&reader)
        let location = LibraryLocation(&reader)
        let logger = makeLogger(&reader, defaultLevel: .warning)
        try reader.finish()
        return (location, settings, logger)
    }
}

struct OpenLibrary {
    let library: any LibraryStore
    let settings: WorkerSettings
    let logger: Logger

    enum AssetList {
        case edited
        /// All assets with files of versions, published or not.
        case stored
    }

    /// Calls `body` for each named asset, or for all of a list. A failure is reported on standard error and does not
    /// stop the rest.
    ///
    /// - Throws: `ExitCode.failure` at the end if a call failed; `laterRelease` if the only failures are of what a later release wrote.
    func forEach(
        _ names: [String], of list: AssetList = .edited, _ body: (AssetPath) async throws -> Void
    ) async throws {
        var (failed, later) = (false, false)
        func each(_ assets: [AssetPath]) async throws {
            for asset in assets {
                do {
                    try await body(asset)
                } catch let failure as Failure {
                    if failure.code == .laterFormat { later = true } else { failed = true }
                    StandardError.write("\(asset): \(failure)")
                }
            }
        }
        try await each(names.map { try AssetPath($0) })
        if names.isEmpty {
            var position: AssetPath?
            repeat {
                let page =
                    switch list {
                    case .edited: try await library.assets(after: position)
                    case .stored: try await library.storedAssets(after: position)
                    }
                try await each(page.assets)
                position = page.next
            } while position != nil
        }
        if failed { throw ExitCode.failure }
        if later { throw ExitCode.laterRelease }
    }
}

extension OpenLibrary {
    /// Starts render children, passes them to `body`, and stops them.
    func withPool<Result: Sendable>(
        _ body: (RenderPool) async throws -> Result
    ) async throws -> Result {
        let pool = RenderPool(settings: settings.rendering, logger: logger)
        do {
            let result = try await body(pool)
            await pool.close()
            return result
        } catch {
            await pool.close()
            throw error
        }
    }
}

/// The settings of this machine for a library in a bucket.
package struct BucketSettings {
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

    /// The library's name for people: its URL without the settings in it.
    var name: String {
        url.map { "s3://\($0.bucket)" + ($0.prefix.isEmpty ? "" : "/\($0.prefix)") } ?? ""
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

package enum LibraryLocation {
    /// A folder; the originals are in its subfolder `originals` unless another folder is named.
    case folder(root: FilePath, originals: FilePath?)
    case bucket(BucketSettings)

    package init(_ reader: inout SettingsReader) {
        let root = reader.value(Settings.library, or: .folder(FilePath("")))
        let originals = reader.optional(Settings.originals)
        var bucket = BucketSettings(&reader)
        switch (root, originals) {
        case (.folder(let root), nil): self = .folder(root: root, originals: nil)
        case (.folder(let root), .folder(let originals)):
            self = .folder(root: root, originals: originals)
        case (.bucket(let url), nil):
            bucket.url = url
            self = .bucket(bucket)
        case (.bucket(let url), .bucket(let originals)):
            (bucket.url, bucket.originals) = (url, originals)
            self = .bucket(bucket)
        case (.folder, .bucket), (.bucket, .folder):
            reader.refuse(
                "library and originals are a folder and a bucket; both must be folders, or both must be s3:// URLs"
            )
            self = .folder(root: FilePath(""), originals: nil)
        }
    }
}

package enum LibraryAddress: Sendable {
    case folder(FilePath)
    case bucket(BlobURL)
}

/// The renders that a job may reuse if photo and edit are the same. Only ``tenants`` permits those of other tenants.
enum RenderReuse: String, CaseIterable, Sendable {
    case never = "false"
    /// Renders that cost nothing to find: those of the whole library in a folder, of the same asset in a bucket.
    case free = "true"
    /// Renders of the whole library. In a bucket, finding them costs requests.
    case library
    /// The same, and of all tenants. A tenant that reuses a render learns that another tenant has the photo.
    case tenants
}
