import Edits
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
