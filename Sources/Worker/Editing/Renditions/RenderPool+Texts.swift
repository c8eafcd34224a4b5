package import Edits
import Files
import Library
package import RenderPool
package import RenderProtocol

extension RenderPool {
    /// Most bytes of the coverage of all texts of a request: a watermark over each of sixteen renditions.
    private static let coverageBytesMax = 128 << 20

    /// Draws the texts of a request's renditions: adds their coverage to the outputs and the files. Placeholders are filled in already.
    ///
    /// Call it before a render child is lent, so that nothing waits with its memory.
    ///
    /// - Parameters:
    ///   - picture: the size of the edited picture, from which the renditions' sizes follow.
    ///   - resources: the folder of resources, in which the fonts are.
    /// - Returns: the request and the files, and the failures of renditions whose text cannot be drawn and that are not required, by
    ///   name: they are no outputs any more.
    /// - Throws: `missingGlyph`, `missingResource`, `badResource`; `exceedsLimit` for too much text.
    package func drawTexts(
        of request: PhotoRequest, _ files: RenderFiles, on picture: PixelSize,
        for borrower: Borrower, in resources: String?
    ) async throws -> (PhotoRequest, RenderFiles, missed: [String: Failure]) {
        let digests = request.outputs.reduce(into: Set<String>()) { digests, output in
            digests.formUnion(output.rendition?.fontDigests ?? [])
        }
        guard !digests.isEmpty else { return (request, files, [:]) }
        var (request, files) = (request, files)
        var outputs: [PhotoRequest.Output] = []
        var missed: [String: Failure] = [:]
        let fonts = try await offPool { () throws(Failure) in
            try OwnedFonts.opened(digests, of: borrower.owner, in: resources)
        }
        let file = try OpenFile.inMemory(name: "the coverage of texts")
        var offset = 0
        for var output in request.outputs {
            do {
                let texts = try await drawn(output, on: picture, fonts, for: borrower)
                output.texts = []
                for text in texts {
                    guard offset + text.bytes.count <= Self.coverageBytesMax else {
                        throw Failure(
                            .exceedsLimit,
                            "The texts of the renditions have more than \(Self.coverageBytesMax) pixels together; choose smaller "
                                + "ones, or send some renditions in a second job.")
                    }
                    try file.write(text.bytes, at: offset)
                    output.texts.append(PlacedText(text.coverage, offset: offset))
                    offset += text.bytes.count
                }
                outputs.append(output)
            } catch let failure as Failure
                where Self.ofTexts.contains(failure.code) && output.rendition?.isRequired == false
            {
                missed[output.name ?? ""] = failure
            }
        }
        request.outputs = outputs
        // A photo that takes its child over could otherwise let it grow.
        try file.seal()
        files.coverage = file
        return (request, files, missed)
    }

    /// The failures that a text or its font may cause.
    private static let ofTexts: Set<FailureCode> = [
        .missingGlyph, .missingResource, .badResource, .exceedsLimit,
    ]

    /// Draws the texts of one output.
    private func drawn(
        _ output: PhotoRequest.Output, on picture: PixelSize, _ fonts: OwnedFonts,
        for borrower: Borrower
    ) async throws -> [CoveredText] {
        guard let rendition = output.rendition else { return [] }
        let size = rendition.fit.placement(of: picture).size
        var drawn: [CoveredText] = []
        for (number, mark) in rendition.marks.enumerated() {
            guard let text = mark.text else { continue }
            let path = Rendition.path(output.name) + ".marks[\(number)]"
            let asked = TextRequest(
                mark, text, text: try text.literal(at: path + ".text"), in: size)
            do {
                drawn.append(try await coverage(of: asked, fonts, for: borrower))
            } catch let failure as Failure {
                throw failure.at(path)
            }
        }
        return drawn
    }
}

extension AssetEditor {
    /// Draws the texts of a request's renditions, and leaves out optional ones that this machine cannot write; see
    /// ``RenderPool/drawTexts(of:_:on:for:in:)``.
    func drawTexts(
        of request: PhotoRequest, _ files: RenderFiles, on picture: PixelSize, _ job: Job
    ) async throws -> (PhotoRequest, RenderFiles, missed: [String: Failure]) {
        var request = request
        let unwritable = try await pool.unwritable(request)
        request.outputs.removeAll { $0.name.map { unwritable[$0] != nil } ?? false }
        let (asked, drawn, missed) = try await pool.drawTexts(
            of: request, files, on: picture, for: job.borrower, in: resources)
        return (asked, drawn, missed.merging(unwritable) { $1 })
    }

    /// Returns what fills in the placeholders of a job's texts.
    func placeholderValues(_ edit: Edit, _ asset: AssetPath, _ job: Job) -> PlaceholderValues {
        var values = PlaceholderValues(asset: asset, fields: edit.fields?.byName ?? [:])
        // The jobs of a batch, and no others, are called by its name and their number.
        if let colon = job.author.job.lastIndex(of: ":"),
            let index = Int(job.author.job[job.author.job.index(after: colon)...])
        {
            values.batch = String(job.author.job[..<colon])
            values.index = index
        }
        return values
    }
}
