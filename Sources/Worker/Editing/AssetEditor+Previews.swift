import Adjustments
import Files
import FoundationEssentials
import Library
import RenderProtocol
import SystemPackage

/// Small pictures of a result: JPEGs, sRGB, without metadata, for screens.
///
/// They are outputs of the same request as the render: a tiny one first, which travels in an event ahead of the render, and
/// the previews last. All are made of one small copy of the photo.
struct SmallPictures: Sendable {
    /// Longest sides of the previews, in pixels.
    let sides: [Int]
    private let format: Recipe.Output

    /// Longest side of a placeholder: small enough to travel in an event.
    static let placeholderSide = 32
    /// Most bytes of a placeholder.
    static let placeholderBytesMax = 8192
    private static let quality = 0.8

    /// Those that a recipe's output asks for.
    init(_ output: Recipe.Output) {
        sides = output.previews
        format = Recipe.Output(
            format: .jpeg, quality: Self.quality, strip: .all, colorSpace: .srgb,
            background: output.background)
    }

    /// What is asked of a child, in this order: the placeholder, what is between, the previews.
    func outputs(around full: [PhotoRequest.Output]) -> [PhotoRequest.Output] {
        guard !sides.isEmpty else { return full }
        return [.init(longestSide: Self.placeholderSide, format: format)] + full
            + sides.map { .init(longestSide: $0, format: format) }
    }

    /// The place of the placeholder among the outputs; nil when there is none.
    var placeholder: Int? { sides.isEmpty ? nil : 0 }

    /// The place of the first preview among the outputs.
    ///
    /// - Parameter full: how many outputs are between.
    func firstPreview(after full: Int) -> Int { full + 1 }
}

extension AssetEditor {
    /// Takes the previews of a request over.
    func takePreviews(
        _ small: SmallPictures, after full: Int, of files: RenderFiles, into staged: StagedVersion
    ) throws(Failure) -> [Content.Preview] {
        var previews: [Content.Preview] = []
        for (index, side) in small.sides.enumerated() {
            let image = try take(
                files.outputs[small.firstPreview(after: full) + index],
                as: "\(Content.previewsFolder)/\(side).\(Recipe.Format.jpeg.fileExtension)",
                RenderedResult(format: .jpeg, size: .within(side)), sourceBytes: 0, into: staged)
            previews.append(Content.Preview(longestSide: side, image: image))
        }
        return previews
    }

    /// Reads a placeholder that a child has written.
    ///
    /// - Returns: a `data:` URI.
    /// - Throws: `untrustedRender` when it is no tiny JPEG.
    static func placeholder(_ file: OpenFile) throws(Failure) -> String {
        guard try file.length() <= SmallPictures.placeholderBytesMax else {
            throw RenderedResult.refusal("has a placeholder of \(try file.length()) bytes")
        }
        // Read once: what is looked at is what is told, whatever the child writes meanwhile.
        let bytes = file.bytes(from: 0, count: SmallPictures.placeholderBytesMax)
        try RenderedResult(format: .jpeg, size: .within(SmallPictures.placeholderSide)).check(bytes)
        return "data:\(Recipe.Format.jpeg.mediaType);base64,\(Data(bytes).base64EncodedString())"
    }
}
