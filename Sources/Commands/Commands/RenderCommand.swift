import ArgumentParser
import Editing
import Edits
import Files
import FoundationEssentials
import Glibc
import Logging
import Operations
import RenderPool
import RenderProtocol
import SystemPackage
import Worker

struct RenderCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "render",
        abstract: "Renders one photo or movie, with no queue.",
        discussion: """
            Uses the same plan and the same render child as a job. The format follows \
            OUT's extension: .jpg, .jpeg, .png, .tif, .tiff, .webp, .heic, .avif, .jxl. A movie stays a \
            .mov or .mp4.

            Example:
              minilab render IMG_0001.JPG sepia.jpg --filter CISepiaTone:inputIntensity=0.8
              minilab render IMG_0002.MOV sepia.mov --filter CISepiaTone:inputIntensity=0.8
            """)

    @Argument(help: "The photo or movie.") var input: String
    @Argument(help: "The file to write. It is replaced atomically.") var output: String
    @OptionGroup var edit: EditOptions
    @Option(Settings.renderTimeout) var renderTimeout: FlagValue?
    @Option(Settings.memory) var memory: FlagValue?
    @OptionGroup var limits: LimitOptions
    @Flag(help: "Print the report as JSON.") var json = false

    func run() async throws {
        try await renderFile(
            input, to: output, edit: edit,
            given: limits.flagValues + [renderTimeout, memory].compactMap(\.self), longestSide: nil,
            json: json)
    }
}

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

struct PreviewCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "preview",
        abstract: "Renders a small picture of an edit.",
        discussion: """
            The photo is shrunk while it is decoded, and lengths such as a blur's radius shrink with it.

            Example:
              minilab preview IMG_0001.JPG --filter CISepiaTone --max 1024
            """)

    @Argument(help: "The photo.") var input: String
    @Argument(help: "The file to write (default: PHOTO-preview.jpg in this folder).")
    var output: String?
    @OptionGroup var edit: EditOptions
    @OptionGroup var limits: LimitOptions
    @Option(name: .customLong("max"), help: "Maximum length of the longer side, in pixels.")
    var longestSide = 1024
    @Flag(help: "Print the report as JSON.") var json = false

    func validate() throws {
        try PhotoRequest.longestSideRange.check(longestSide, "--max")
    }

    func run() async throws {
        try await renderFile(
            input, to: output ?? beside(input, "preview"), edit: edit,
            given: limits.flagValues, longestSide: longestSide, json: json)
    }
}

/// Returns `IMG_0001-preview.jpg` for `/photos/IMG_0001.HEIC`: a file in the working directory.
func beside(_ photo: String, _ word: String) -> String {
    "\(FilePath(photo).lastComponent?.stem ?? "photo")-\(word).jpg"
}
