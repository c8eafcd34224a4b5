import Edits
import ArgumentParser
import FoundationEssentials
import JobQueue
import Library
import Logging
import RenderPool
import Telemetry
import Worker

/// The flags that name the library.
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

/// A library that is open for one command.
struct OpenLibrary {
    let library: any LibraryStore
    let settings: WorkerSettings
    let logger: Logger

    /// The lists of assets.
    enum AssetList {
        /// All edited assets.
        case edited
        /// All assets with files of versions, published or not.
        case stored
    }

    /// Calls `body` for each named asset, or for all of a list. A failure is reported on standard error and does not
    /// stop the rest.
    ///
    /// - Throws: `ExitCode.failure` at the end if a call failed.
    func forEach(
        _ names: [String], of list: AssetList = .edited, _ body: (AssetPath) async throws -> Void
    ) async throws {
        var failed = false
        func each(_ assets: [AssetPath]) async throws {
            for asset in assets {
                do {
                    try await body(asset)
                } catch let failure as Failure {
                    failed = true
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
