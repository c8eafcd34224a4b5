import Edits
import Files
import FoundationEssentials
import Library
import RenderProtocol

/// The small pictures of a result: sRGB JPEGs without metadata, for screens.
///
/// They are renditions in the same request as the render, made of the same rows: a tiny placeholder, which is sent in an event before
/// the job's end, and the previews.
struct SmallPictures: Sendable {
    /// The longest sides of the previews, in pixels.
    let sides: [Int]
    private let background: Recipe.Background?

    /// The longest side of a placeholder, small enough for an event.
    static let placeholderSide = 32
    static let placeholderBytesMax = 8192

    init(_ output: Recipe.Output) {
        (sides, background) = (output.previews, output.background)
    }

    /// Returns the outputs to request of a child, in order: the placeholder, the given outputs, the previews.
    func outputs(around full: [PhotoRequest.Output]) -> [PhotoRequest.Output] {
        guard !sides.isEmpty else { return full }
        return [preview(Self.placeholderSide)] + full + sides.map(preview)
    }

    private func preview(_ side: Int) -> PhotoRequest.Output {
        .init(rendition: .preview(longestSide: side, background: background))
    }

    /// The index of the placeholder among the outputs; nil if there is none.
    var placeholder: Int? { sides.isEmpty ? nil : 0 }

    /// The index of the first rendition among the outputs: after the placeholder and the render.
    var firstRendition: Int { sides.isEmpty ? 1 : 2 }

    /// Returns the index of the first preview among the outputs.
    ///
    /// - Parameter full: the number of outputs between placeholder and previews.
    func firstPreview(after full: Int) -> Int { full + 1 }
}

extension AssetEditor {
    /// Accepts the previews of a request into the staged version.
    func acceptPreviews(
        _ small: SmallPictures, after full: Int, of files: RenderFiles, into staged: StagedVersion
    ) throws(Failure) -> [Content.Preview] {
        var previews: [Content.Preview] = []
        for (index, side) in small.sides.enumerated() {
            let image = try accept(
                files.outputs[small.firstPreview(after: full) + index],
                as: "\(Content.previewsFolder)/\(side).\(Recipe.Format.jpeg.fileExtension)",
                RenderedResult(format: .jpeg, size: .within(side)), sourceBytes: 0, into: staged)
            previews.append(Content.Preview(longestSide: side, image: image))
        }
        return previews
    }

    /// Reads a placeholder from a child's output.
    ///
    /// - Returns: a `data:` URI.
    /// - Throws: `untrustedRender` if the output is no tiny JPEG.
    static func placeholder(_ file: OpenFile) throws(Failure) -> String {
        guard try file.length() <= SmallPictures.placeholderBytesMax else {
            throw RenderedResult.refusal("has a placeholder of \(try file.length()) bytes")
        }
        // Read once, so that the checked bytes are the sent bytes, even if the child writes in the meantime.
        let bytes = file.bytes(from: 0, count: SmallPictures.placeholderBytesMax)
        try RenderedResult(format: .jpeg, size: .within(SmallPictures.placeholderSide)).check(bytes)
        return "data:\(Recipe.Format.jpeg.mediaType);base64,\(Data(bytes).base64EncodedString())"
    }
}
