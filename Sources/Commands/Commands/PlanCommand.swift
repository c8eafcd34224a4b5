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
        abstract: "Shows how a photo would be rendered, and why.",
        discussion: """
            Example:
              minilab plan IMG_0001.JPG --filter CISepiaTone --filter CIEdges
              minilab plan IMG_0001.JPG --rendition web:box=2048x2048,format=avif
            """)

    @Argument(help: "The photo.") var input: String
    @OptionGroup var edit: EditOptions
    @OptionGroup var limits: LimitOptions
    @Flag(help: "Print header and plan as JSON.") var json = false

    private struct Answer: Encodable {
        let header: PhotoHeader
        let plan: RenderPlan
        /// The memory that the render takes, with all its renditions.
        let memoryBytes: Int
        /// The sizes of the renditions by their names, unless there are none.
        let renditions: [String: PixelSize]?
    }

    func run() async throws {
        var reader = SettingsReader(try SettingsSource(limits.flagValues + edit.flagValues))
        let settings = WorkerSettings(&reader)
        let logger = makeLogger(&reader, defaultLevel: .warning)
        try reader.finish()
        let (recipe, renditions) = try edit.planned()
        let files = RenderFiles(
            sources: [try OpenFile(reading: FilePath(input).absolute.string)],
            resources: try .opened(
                for: recipe, renditions: Array(renditions.byName.values), of: .operator,
                in: settings.editing.resources))
        let pool = RenderPool(settings: settings.rendering, logger: logger)
        let inspection: Inspection
        do {
            let borrower = Borrower(.operator)
            let pictures = try await pool.sizes(
                of: recipe.sizedPictures, in: files.resources, for: borrower)
            inspection = try await pool.inspect(
                PhotoRequest(
                    recipe: recipe, limits: settings.editing.limits, pictures: pictures,
                    outputs: [.full]
                        + renditions.names.map {
                            .init(rendition: renditions.byName[$0], name: $0)
                        }),
                files, for: borrower)
        } catch {
            await pool.close()
            throw error
        }
        await pool.close()
        let header = inspection.header
        let sizes = renditions.byName.mapValues {
            $0.fit.placement(of: inspection.plan.resultSize).size
        }
        if json {
            try printJSON(
                Answer(
                    header: header, plan: inspection.plan, memoryBytes: inspection.memoryBytes,
                    renditions: sizes.isEmpty ? nil : sizes))
        } else {
            print(
                "\(header.format.rawValue), \(header.uprightSize) upright, \(header.bitsPerSample) bit"
            )
            for line in inspection.planLines { print(line) }
            for (name, size) in sizes.sorted(by: { $0.key < $1.key }) {
                let format = renditions.byName[name]?.output.format ?? .jpeg
                print("rendition \(name): \(size), \(format.rawValue)")
            }
            if !sizes.isEmpty {
                let megabytes = (inspection.memoryBytes + 500_000) / 1_000_000
                print("needs with them: about \(megabytes) MB")
            }
        }
    }
}
