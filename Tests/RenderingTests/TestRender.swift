import Edits
import Files
import RenderProtocol

@testable import Rendering

/// One render to a file, and all that is known of it.
struct TestRender {
    let header: PhotoHeader
    let recipe: Recipe
    let plan: RenderPlan
    let output: Output

    /// The file.
    struct Output {
        /// Its name in the folder.
        let name: String
        let mediaType: String
        let size: PixelSize
        let bytes: Int
        let digest: String
    }

    /// Renders a photo to a file of the folder, in this process.
    init(
        _ source: String, _ recipe: Recipe, limits: RenderLimits, resources: String?,
        in folder: String, stem: String, longestSide: Int?, by renderer: Renderer
    ) throws {
        var files = RenderFiles(
            sources: [try OpenFile(reading: source)],
            resources: try Resources(folder: resources).files)
        let request = PhotoRequest(
            recipe: recipe, limits: limits, outputs: [.init(longestSide: longestSide)])
        let inspection = try renderer.inspect(request, files)
        let format = inspection.plan.output.format
        let name = "\(stem).\(format.fileExtension)"
        files.outputs = [try OpenFile(writing: folder + "/" + name)]
        files.spool = try .nameless(in: folder, name: "the spool")
        try renderer.render(request, files)
        // What is written is of the size that was planned, whatever went wrong in between.
        let written = try PhotoFile(at: folder + "/" + name, limits: RenderLimits(pixelsMax: .max))
            .header().uprightSize
        guard written == inspection.plan.resultSize else {
            throw Failure(
                .internalError, "\(name) is \(written); planned was \(inspection.plan.resultSize)")
        }
        let digest = try FileDigest.sha256(of: files.outputs[0])
        header = inspection.header
        self.recipe = inspection.recipe
        plan = inspection.plan
        output = Output(
            name: name, mediaType: format.mediaType, size: written, bytes: digest.bytes,
            digest: digest.hex)
    }
}
