import Edits
import FoundationEssentials
import RenderPool
import RenderProtocol

extension RenderPool {
    /// Returns the values of placeholders with those that the photo has, if a text of a request reads them: a child reports them, and
    /// reads the photo's header for that.
    func completed(
        _ values: PlaceholderValues, for request: PhotoRequest, _ files: RenderFiles,
        for borrower: Borrower
    ) async throws -> PlaceholderValues {
        guard request.readsPhoto else { return values }
        var question = request
        (question.outputs, question.readsTexts) = ([.full], true)
        var values = values
        values.texts = try await inspect(question, files, for: borrower).texts ?? values.texts
        return values
    }
}

extension PhotoRequest {
    /// Whether something that is written depends on what the photo says of itself. What is written into metadata does: a photo that states its last
    /// change states it anew.
    fileprivate var readsPhoto: Bool {
        recipe.output.metadata != nil || outputs.contains { $0.rendition?.readsPhoto ?? false }
    }

    /// Fills in the texts that are written into the metadata of the render, so that the recorded recipe has what was written.
    ///
    /// - Parameters:
    ///   - values: afterwards, with what is written.
    ///   - arrival: the edit's arrival, in µs since 1970, which a photo that tells its last change tells from then on; nil: it tells
    ///     what the recipe records, or what it told.
    /// - Throws: `missingValue`.
    mutating func fill(
        by values: inout PlaceholderValues, at arrival: Int?
    ) throws(Failure) {
        // A removed value is not written, drawn or told by another way.
        if recipe.output.strip != .none { values.texts = values.texts.withoutCoordinates }
        guard let asked = recipe.output.metadata else { return }
        var changes = try asked.filled(by: values).values
        if let arrival {
            // Not that of an earlier edit, whose output this one may have.
            changes[.modified] = nil
            if values.texts.tellsChange {
                let date = Date(timeIntervalSince1970: Double(arrival / 1_000_000))
                changes[.modified] = MetadataDate(date.formatted(.iso8601)).map { .date($0) }
            }
        }
        let filled = MetadataChanges(changes)
        values.texts = values.texts.replaced(by: filled)
        var output = recipe.output
        output.metadata = filled.isEmpty ? nil : filled
        recipe = try Recipe(
            filters: recipe.filters, referenceSize: recipe.referenceSize, output: output)
    }
}
