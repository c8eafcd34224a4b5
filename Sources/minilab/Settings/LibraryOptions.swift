import Adjustments
import ArgumentParser
import FoundationEssentials
import JobQueue
import Library
import Logging
import SystemPackage
import Telemetry
import Worker

/// The flags that say where the library is.
struct LibraryOptions: ParsableArguments {
    @Option(help: "The folder of the library (MINILAB_LIBRARY).")
    var library: String?

    @Option(help: "The folder of the originals, when it is not LIBRARY/originals.")
    var originals: String?

    @Option(help: "A JSON file of settings, such as the workers'.")
    var settings: String?

    /// Opens the library that flags, environment or settings file name.
    ///
    /// - Parameter more: flags of the command that are settings too.
    func open(_ more: [String: String?] = [:]) throws -> OpenLibrary {
        var source = SettingsSource()
        source.flags = ["library": library, "originals": originals].merging(more) { $1 }
            .compactMapValues(\.self)
        if let file = settings ?? source.environment["MINILAB_SETTINGS"] {
            try source.readFile(at: file)
        }
        var reader = SettingsReader(source)
        // Environment and file of workers say more than is needed here, rightly or wrongly.
        reader.passOverQueueSettings()
        let settings = WorkerSettings(&reader)
        let (root, originals) = LibraryOptions.folders(&reader)
        let logger = makeLogger(&reader, defaultLevel: .warning)
        try reader.finish()
        guard FileManager.default.fileExists(atPath: root.appending("edits").string) else {
            throw ValidationError(
                "there is no library at \(root): it has no folder edits. Give the folder that the "
                    + "workers are given as --library.")
        }
        return OpenLibrary(
            library: try FolderLibrary(root: root, originals: originals), settings: settings,
            logger: logger)
    }

    /// Where the library and its originals are.
    static func folders(_ reader: inout SettingsReader) -> (root: FilePath, originals: FilePath?) {
        let root = reader.value(.text("library", "the folder of the library"), or: "")
        let originals = reader.optional(.text("originals", "the folder of the originals"))
        return (FilePath(root), originals.map { FilePath($0) })
    }
}

/// A library, opened for one command.
struct OpenLibrary {
    let library: any LibraryStore
    let settings: WorkerSettings
    let logger: Logger

    /// Does something for each asset named, or for all that have an edit; what fails for one is told on standard
    /// error and does not stop the rest.
    ///
    /// - Throws: `ExitCode.failure` at the end when something failed.
    func forEach(
        _ names: [String], _ body: (AssetPath) async throws -> Void
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
        var page = names.isEmpty ? try await library.assets(after: nil) : []
        while let last = page.last {
            try await each(page)
            page = try await library.assets(after: last)
        }
        if failed { throw ExitCode.failure }
    }
}

extension OpenLibrary {
    /// Lends render children and ends them afterwards.
    func withPool<Result: Sendable>(
        _ body: (RenderPool) async throws -> Result
    ) async throws -> Result {
        let pool = RenderPool(settings: settings, logger: logger)
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
