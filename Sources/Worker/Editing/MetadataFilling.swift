import Edits
import FoundationEssentials
import RenderPool
import RenderProtocol

extension RenderPool {
    /// Returns a request whose texts for metadata are filled in, so that the recorded recipe has what was written.
    ///
    /// The photo's own values are reported by a child, which reads its header for that.
    ///
    /// - Parameters:
    ///   - values: those that do not come from the photo.
    ///   - arrival: the edit's arrival, in µs since 1970, which a photo that tells its last change tells from then on; nil: it tells
    ///     what it told.
    /// - Throws: `missingValue`, and errors of an inspection.
    func filled(
        _ request: PhotoRequest, _ files: RenderFiles, with values: PlaceholderValues,
        at arrival: Int?, for borrower: Borrower
    ) async throws -> PhotoRequest {
        guard let asked = request.recipe.output.metadata else { return request }
        var texts = PhotoTexts()
        if asked.readsPhoto || arrival != nil {
            var question = request
            question.readsTexts = true
            texts = try await inspect(question, files, for: borrower).texts ?? texts
        }
        var values = values
        values.texts = texts
        var changes = try asked.filled(by: values).values
        // Not that of an earlier edit, whose output this one may have.
        changes[.modified] = nil
        if texts.tellsChange, let arrival {
            let date = Date(timeIntervalSince1970: Double(arrival / 1_000_000))
            changes[.modified] = MetadataDate(date.formatted(.iso8601)).map { .date($0) }
        }
        var output = request.recipe.output
        output.metadata = MetadataChanges(changes)
        var filled = request
        filled.recipe = try Recipe(
            filters: request.recipe.filters, referenceSize: request.recipe.referenceSize,
            output: output)
        return filled
    }
}

extension AssetEditor.Job {
    /// Returns the values of placeholders for an asset, but for those of the photo.
    func values(of asset: AssetPath) -> PlaceholderValues {
        PlaceholderValues(asset: asset, batch: batch, index: index, fields: fields)
    }
}
