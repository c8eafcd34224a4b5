import Adjustments
import Library
import RenderProtocol
import SystemPackage

/// Small pictures of a result: JPEGs, sRGB, without metadata, for screens.
extension AssetEditor {
    /// Longest side of a placeholder: small enough to travel in an event.
    private static let placeholderSide = 32
    private static let quality = 0.8

    /// Makes the previews that a recipe's output asks for; lengths shrink with them.
    ///
    /// - Parameter source: what the recipe is for: the original, the base, or a render with a recipe of no steps.
    func previews(
        of recipe: Recipe, _ source: FilePath, _ memoryMax: Int?, _ staged: StagedVersion,
        by child: LentChild
    ) async throws -> [Content.Preview] {
        var previews: [Content.Preview] = []
        for side in recipe.output.previews {
            let image = try await small(
                recipe, source, memoryMax, side: side, as: "\(side)", staged, by: child)
            previews.append(Content.Preview(longestSide: side, image: image))
        }
        return previews
    }

    /// Makes a tiny picture of what a recipe will come to.
    ///
    /// - Returns: a `data:` URI; nil when the recipe's output asks for no previews.
    func placeholder(
        of recipe: Recipe, _ source: FilePath, _ memoryMax: Int?, _ staged: StagedVersion,
        by child: LentChild
    ) async throws -> String? {
        guard !recipe.output.previews.isEmpty else { return nil }
        let image = try await small(
            recipe, source, memoryMax, side: Self.placeholderSide, as: "placeholder", staged,
            by: child)
        return try await offPool { () throws(Failure) in
            try library.takeText(image.name, mediaType: image.mediaType, from: staged)
        }
    }

    /// The memory that the previews and the placeholder of a recipe need at most.
    ///
    /// What differs with their size is small beside decoding the photo, so the largest one is asked for. To plan an
    /// automatic filter its photo has to be decoded; what it comes to needs no more than a photo without it.
    func previewBytes(
        of recipe: Recipe, _ source: FilePath, _ memoryMax: Int?, by child: LentChild
    ) async throws -> Int {
        guard let side = recipe.output.previews.max() else { return 0 }
        let request = try smallRequest(
            recipe.isAutomatic ? try Recipe(filters: []) : recipe, source, memoryMax, side: side,
            as: "preview", in: "")
        return try await child.probe(ProbeRequest(request)).1.estimate.memoryBytes
    }

    private func small(
        _ recipe: Recipe, _ source: FilePath, _ memoryMax: Int?, side: Int, as stem: String,
        _ staged: StagedVersion, by child: LentChild
    ) async throws -> Content.Image {
        let folder = try await offPool { () throws(Failure) in
            try library.stageFolder(Content.previewsFolder, in: staged)
        }
        let report = try await child.render(
            smallRequest(recipe, source, memoryMax, side: side, as: stem, in: folder),
            planned: nil)
        return Content.Image(report.output, in: Content.previewsFolder)
    }

    private func smallRequest(
        _ recipe: Recipe, _ source: FilePath, _ memoryMax: Int?, side: Int, as stem: String,
        in folder: FilePath
    ) throws -> PhotoRequest {
        let output = Recipe.Output(
            format: .jpeg, quality: Self.quality, strip: .all, colorSpace: .srgb,
            background: recipe.output.background)
        return PhotoRequest(
            source: source.string,
            recipe: try Recipe(
                filters: recipe.filters, referenceSize: recipe.referenceSize, output: output),
            limits: limits, resources: resources, folder: folder.string, stem: stem,
            longestSide: side, memoryMax: memoryMax)
    }
}
