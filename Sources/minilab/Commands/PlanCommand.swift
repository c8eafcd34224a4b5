import Adjustments
import ArgumentParser
import Logging
import RenderProtocol
import SystemPackage
import Worker

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
    @OptionGroup var limits: LimitOptions
    @Flag(help: "Print header and plan as JSON.") var json = false

    private struct Answer: Encodable {
        let header: PhotoHeader
        let plan: RenderPlan
    }

    func run() async throws {
        var source = SettingsSource()
        source.flags = limits.flags.compactMapValues(\.self)
        source.flags["resources"] = edit.resources
        var reader = SettingsReader(source)
        var settings = WorkerSettings(&reader)
        let logger = makeLogger(&reader, defaultLevel: .warning)
        try reader.finish()
        let photo = FilePath(input).absolute.string
        settings.reachable = .photos([photo], resources: settings.resources)
        let pool = RenderPool(settings: settings, logger: logger)
        let (header, plan) = try await pool.probe(
            ProbeRequest(
                source: photo, recipe: edit.recipe(),
                limits: settings.limits, resources: settings.resources))
        await pool.close()
        if json {
            try printJSON(Answer(header: header, plan: plan))
        } else {
            print("\(header.format), \(header.uprightSize) upright, \(header.bitsPerSample) bit")
            print(block: "\(plan)")
        }
    }
}
