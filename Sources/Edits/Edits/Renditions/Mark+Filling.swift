extension Rendition {
    /// Whether a placeholder's value is read from the photo.
    public var readsPhoto: Bool {
        output.writesMetadata && output.metadata?.readsPhoto ?? false
            || marks.contains { mark in
                mark.text.map { text in
                    do throws(Failure) {
                        return try Placeholders(text.text, at: "").readsPhoto
                    } catch {
                        // It was read when the edit was, so it is well-formed.
                        return false
                    }
                } ?? false
            }
    }

    /// Returns the rendition with the placeholders of its metadata and marks filled in: from then on, its JSON says what is written and
    /// drawn. Its marks have the values that are written into it.
    ///
    /// - Parameters:
    ///   - render: the settings of the render, without placeholders: what is written into its metadata, which the rendition's own
    ///     values precede field by field, and what is removed from them.
    ///   - path: its name in errors.
    /// - Throws: `missingValue`; `invalidValue` if a text has nothing to draw.
    public func filled(
        by values: PlaceholderValues, beside render: Recipe.Output = Recipe.Output(),
        at path: String
    ) throws(Failure) -> Rendition {
        var (filled, values) = (stripped(like: render), values)
        let output = filled.output
        // From here on, its JSON says what is removed.
        filled.statesStrip = false
        if output.strip != .none { values.texts = values.texts.withoutCoordinates }
        let own = try output.metadata?.filled(by: values, at: "\(path).metadata")
        values.texts = values.texts.replaced(by: own)
        var changes = (render.metadata ?? MetadataChanges()).replaced(by: own)
        if output.strip == .all {
            changes = output.keepsRights ? changes.ofRights : MetadataChanges()
        }
        filled.output.metadata = changes.isEmpty ? nil : changes
        for (index, mark) in marks.enumerated() {
            guard case .text(var text) = mark.content else { continue }
            let path = "\(path).marks[\(index)].text"
            text.text = try text.filled(by: values, at: path)
            filled.marks[index].content = .text(text)
        }
        return filled
    }

    /// The digests of the pictures that its marks name.
    public var pictureDigests: Set<String> { Set(marks.flatMap(\.pictureDigests)) }

    /// The digests of the fonts that its marks name.
    public var fontDigests: Set<String> { Set(marks.flatMap { $0.text?.fonts ?? [] }) }
}

extension Mark.Text {
    /// The text to draw, if all its placeholders are filled in.
    ///
    /// - Throws: `invalidValue` if there is one left.
    public func literal(at path: String) throws(Failure) -> String {
        guard let literal = try Placeholders(text, at: path).literal else {
            throw Failure(.invalidValue, "\(path) has a placeholder; expected is a text to draw.")
        }
        return literal
    }

    /// Returns the text with its placeholders filled in and its braces doubled, cut at the longest text of a mark.
    fileprivate func filled(
        by values: PlaceholderValues, at path: String
    ) throws(Failure) -> String {
        let filled = try Placeholders(text, at: path).filled(by: values, at: path)
        var cut = String.UnicodeScalarView()
        for scalar in filled.unicodeScalars.prefix(ContractLimits.textMax) {
            cut.append(scalar)
            if scalar == "{" { cut.append(scalar) }
        }
        let text = String(cut)
        try Self.check(text, at: path)
        return text
    }
}
