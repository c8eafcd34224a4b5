import ArgumentParser
import Editing
import Edits
import Files
import Logging
import RenderPool
import RenderProtocol
import SystemPackage
import Worker

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
        var reader = SettingsReader(try SettingsSource(limits.flagValues + edit.flagValues))
        let settings = WorkerSettings(&reader)
        let logger = makeLogger(&reader, defaultLevel: .warning)
        try reader.finish()
        let recipe = try edit.recipe()
        let files = RenderFiles(
            sources: [try OpenFile(reading: FilePath(input).absolute.string)],
            resources: try .opened(
                for: recipe, of: .operator, in: settings.editing.resources))
        let pool = RenderPool(settings: settings.rendering, logger: logger)
        let inspection: Inspection
        do {
            let borrower = Borrower(.operator)
            let pictures = try await pool.sizes(
                of: recipe.sizedPictures, in: files.resources, for: borrower)
            inspection = try await pool.inspect(
                PhotoRequest(
                    recipe: recipe, limits: settings.editing.limits, pictures: pictures),
                files, for: borrower)
        } catch {
            await pool.close()
            throw error
        }
        await pool.close()
        let header = inspection.header
        if json {
            try printJSON(Answer(header: header, plan: inspection.plan))
        } else {
            print(
                "\(header.format.rawValue), \(header.uprightSize) upright, \(header.bitsPerSample) bit"
            )
            for line in inspection.planLines { print(line) }
        }
    }
}
