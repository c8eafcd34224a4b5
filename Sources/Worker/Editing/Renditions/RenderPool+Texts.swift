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
    /// - Throws: `missingGlyph`, `missingResource`, `badResource`; `exceedsLimit` for too much text. A rendition that may be missing fails
    ///   with the others: its text is the producer's, and the photo does not change it.
    package func drawTexts(
        of request: PhotoRequest, _ files: RenderFiles, on picture: PixelSize,
        for borrower: Borrower, in resources: String?
    ) async throws -> (PhotoRequest, RenderFiles) {
        let digests = request.outputs.reduce(into: Set<String>()) { digests, output in
            digests.formUnion(output.rendition?.fontDigests ?? [])
        }
        guard !digests.isEmpty else { return (request, files) }
        var (request, files) = (request, files)
        let fonts = try await offPool { () throws(Failure) in
            try [String: OpenFile].opened(digests, of: borrower.owner, in: resources)
        }
        let file = try OpenFile.inMemory(name: "the coverage of texts")
        var offset = 0
        for (index, output) in request.outputs.enumerated() {
            guard let rendition = output.rendition else { continue }
            let size = rendition.fit.placement(of: picture).size
            request.outputs[index].texts = []
            for (number, mark) in rendition.marks.enumerated() {
                guard let text = mark.text else { continue }
                let asked = TextRequest(
                    mark, text, text: try text.literal(at: "marks[\(number)].text"), in: size)
                let drawn: CoveredText
                do { drawn = try await coverage(of: asked, fonts, for: borrower) } catch {
                    guard let failure = error as? Failure, let name = output.name else {
                        throw error
                    }
                    throw Failure(
                        failure.code,
                        "edit.renditions.\(name).marks[\(number)]: \(failure.message)",
                        signal: failure.signal)
                }
                guard offset + drawn.bytes.count <= Self.coverageBytesMax else {
                    throw Failure(
                        .exceedsLimit,
                        "The texts of the renditions have more than \(Self.coverageBytesMax) pixels together; choose smaller "
                            + "ones, or send some renditions in a second job.")
                }
                try file.write(drawn.bytes, at: offset)
                request.outputs[index].texts.append(
                    PlacedText(drawn.coverage, offset: offset))
                offset += drawn.bytes.count
            }
        }
        files.coverage = file
        return (request, files)
    }
}

extension AssetEditor {
    /// Draws the texts of a request's renditions; see ``RenderPool/drawTexts(of:_:on:for:in:)``.
    func drawTexts(
        of request: PhotoRequest, _ files: RenderFiles, on picture: PixelSize, _ job: Job
    ) async throws -> (PhotoRequest, RenderFiles) {
        try await pool.drawTexts(
            of: request, files, on: picture, for: job.borrower, in: resources)
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
