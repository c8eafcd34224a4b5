import Edits
import ArgumentParser
import Editing
import Files
import FoundationEssentials
import Logging
import RenderPool
import RenderProtocol
import SystemPackage
import Worker
import Operations

/// Renders one photo or movie to a file, in a render child that this call starts. For `render` and `preview`.
///
/// - Parameter longestSide: the longest side of a reduced result, in pixels; nil for full size.
func renderFile(
    _ input: String, to output: String, edit: EditOptions, given: [FlagValue],
    longestSide: Int?, json: Bool
) async throws {
    var reader = SettingsReader(try SettingsSource(given + edit.flagValues))
    var settings = WorkerSettings(&reader)
    let logger = makeLogger(&reader, defaultLevel: .warning)
    try reader.finish()
    try settings.rendering.boundMemory()
    let recipe = try edit.recipe().written(to: output)

    // The folder is beside the result, so that the file can be moved there atomically.
    let folder = try TemporaryFolder(beside: output)
    defer { folder.remove() }
    let made = FilePath(folder.path).appending("render")
    let pool = RenderPool(settings: settings.rendering, logger: logger)
    let report: FileRenderer.Report
    let line = MovieProgressLine()
    do {
        let renderer = FileRenderer(pool: pool, settings: settings.editing)
        let source = try OpenFile(reading: FilePath(input).absolute.string)
        report = try await interruptible {
            try await renderer.render(
                source, recipe, for: Borrower(.operator), longestSide: longestSide, to: made
            ) { line.show($0) }
        }
        line.end()
    } catch {
        line.end()
        await pool.close()
        throw error
    }
    await pool.close()
    try folder.release(made.string, to: output)
    if json {
        try printJSON(report)
    } else {
        print(
            "\(output): \(report.output.size), \(report.output.bytes) bytes, "
                + "\(Int(report.use.wallMilliseconds)) ms, peak \(megabytes(report.use.peakMemoryBytes)) MB"
        )
        if let video = report.plan.motionVideo { print("motion video: \(video)") }
    }
}

extension Recipe {
    /// Returns the same recipe with the format of a file's extension.
    fileprivate func written(to path: String) throws -> Recipe {
        guard let name = FilePath(path).extension, let format = Recipe.Format(fileExtension: name)
        else {
            throw ValidationError(
                "\(path) has no extension that names a format; known: .jpg, .jpeg, .png, .tif, "
                    + ".tiff, .webp, .heic, .avif, .jxl, .mov, .mp4.")
        }
        var output = output
        output.format = format
        return try Recipe(filters: filters, referenceSize: referenceSize, output: output)
    }
}

extension FilePath {
    /// The absolute path, without access to the file system.
    var absolute: FilePath {
        isAbsolute
            ? self : FilePath(FileManager.default.currentDirectoryPath).pushing(self)
    }
}
