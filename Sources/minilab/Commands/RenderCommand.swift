import Adjustments
import ArgumentParser
import FoundationEssentials
import Glibc
import Logging
import RenderProtocol
import SystemPackage
import Worker

/// `minilab render`.
struct RenderCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "render",
        abstract: "Renders one photo, with no queue.",
        discussion: """
            It goes through the same plan and the same render child as a job. The format follows \
            OUT's extension: .jpg, .jpeg, .png, .tif, .tiff, .webp, .heic, .avif, .jxl.

            Example:
              minilab render IMG_0001.JPG sepia.jpg --filter CISepiaTone:inputIntensity=0.8
            """)

    @Argument(help: "The photo.") var input: String
    @Argument(help: "The file to write; it is replaced whole or not at all.") var output: String
    @OptionGroup var edit: EditOptions
    @Option(help: "How long the render may take (default: 5m).") var renderTimeout: String?
    @Option(help: "Most pixels of the photo (default: 536870912).") var renderPixels: String?
    @Flag(help: "Print the report as JSON.") var json = false

    func run() async throws {
        var source = SettingsSource()
        source.flags = ["render.timeout": renderTimeout, "render.pixels": renderPixels]
            .compactMapValues(\.self)
        var reader = SettingsReader(source)
        let settings = WorkerSettings(&reader)
        let logger = makeLogger(&reader, defaultLevel: .warning)
        try reader.finish()
        let recipe = try edit.recipe().written(to: output)

        // Beside the result, so that it can be moved to its place whole.
        let folder = try TemporaryFolder(beside: output)
        defer { folder.remove() }
        let pool = RenderPool(settings: settings, logger: logger)
        let report: RenderReport
        do {
            report = try await pool.render(
                PhotoRequest(
                    source: FilePath(input).absolute.string, recipe: recipe,
                    limits: settings.limits, folder: folder.path, stem: "render"))
        } catch {
            await pool.close()
            throw error
        }
        await pool.close()
        guard rename(folder.path + "/" + report.output.name, output) == 0 else {
            throw Failure(
                .ioFailure, "\(output) cannot be written: \(String(cString: strerror(errno))).")
        }
        if json {
            try printJSON(report)
        } else {
            print(
                "\(output): \(report.output.size), \(report.output.bytes) bytes, "
                    + "\(Int(report.wallMilliseconds)) ms, peak \(megabytes(report.peakMemoryBytes)) MB"
            )
        }
    }
}

/// `minilab plan`.
struct PlanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Shows how a photo would be rendered, without rendering it.",
        discussion: """
            Example:
              minilab plan IMG_0001.JPG --filter CISepiaTone --filter CIEdges
            """)

    @Argument(help: "The photo.") var input: String
    @OptionGroup var edit: EditOptions
    @Flag(help: "Print header and plan as JSON.") var json = false

    private struct Answer: Encodable {
        let header: PhotoHeader
        let plan: RenderPlan
    }

    func run() async throws {
        var reader = SettingsReader(SettingsSource())
        let settings = WorkerSettings(&reader)
        let logger = makeLogger(&reader, defaultLevel: .warning)
        try reader.finish()
        let pool = RenderPool(settings: settings, logger: logger)
        let (header, plan) = try await pool.probe(
            ProbeRequest(
                source: FilePath(input).absolute.string, recipe: edit.recipe(),
                limits: settings.limits))
        await pool.close()
        if json {
            try printJSON(Answer(header: header, plan: plan))
        } else {
            print("\(header.format), \(header.uprightSize) upright, \(header.bitsPerSample) bit")
            print(plan)
        }
    }
}

extension Recipe {
    /// The same recipe with the format that a file's extension names.
    fileprivate func written(to path: String) throws -> Recipe {
        guard let name = FilePath(path).extension, let format = Recipe.Format(fileExtension: name)
        else {
            throw ValidationError(
                "\(path) has no extension that names a format; known: .jpg, .jpeg, .png, .tif, "
                    + ".tiff, .webp, .heic, .avif, .jxl.")
        }
        var output = output
        output.format = format
        return try Recipe(filters: filters, referenceSize: referenceSize, output: output)
    }
}

extension FilePath {
    /// The path from the root, without looking at the file system.
    var absolute: FilePath {
        isAbsolute
            ? self : FilePath(FileManager.default.currentDirectoryPath).pushing(self)
    }
}

/// A folder that is removed at the end.
struct TemporaryFolder {
    let path: String

    /// Makes one in the folder that `file` is or will be in.
    init(beside file: String) throws {
        let folder = FilePath(file).absolute.removingLastComponent()
        var template = Array(folder.appending(".minilab-XXXXXX").string.utf8CString)
        guard mkdtemp(&template) != nil else {
            throw Failure(
                .ioFailure,
                "nothing can be written to \(folder): \(String(cString: strerror(errno))).")
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    func remove() {
        // What cannot be removed is a hidden folder that harms nothing; the result counts.
        try? FileManager.default.removeItem(atPath: path)
    }
}
