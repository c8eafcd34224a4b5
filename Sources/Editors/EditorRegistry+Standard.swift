public import Edits

extension EditorRegistry {
    /// Returns the registry of all formats that Minilab supports.
    ///
    /// - Parameters:
    ///   - lookAlikes: whether tone and colour of Apple's Photos are rendered by similar filters.
    ///   - tint: identifier and version of the app "Color Tint", if there is one.
    /// - Throws: `invalidValue` for a tint without an identifier, or with that of another editor.
    public static func standard(
        lookAlikes: Bool = false, tint: (identifier: String, version: String)? = nil
    ) throws(Failure) -> EditorRegistry {
        var codecs: [any AdjustmentCodec] = [
            MinilabRecipe(),
            ApplePhoto(lookAlikes: lookAlikes),
            AppleVideo.video,
            AppleVideo.slowMotion,
            FilterName.ebookFrenzyPhotoExtension,
            FilterName.appleSamplePhotosApp,
            FilterName.samplePhotosApp,
            FilterName.samplePhotoEditingExtension,
        ]
        if let tint {
            guard !tint.identifier.isEmpty, !tint.version.isEmpty,
                !codecs.contains(where: { $0.formatIdentifier == tint.identifier })
            else {
                throw Failure(
                    .invalidValue,
                    "Color Tint's format is \(tint.identifier.debugDescription) "
                        + "\(tint.version.debugDescription); expected the identifier and version that the app "
                        + "was built with, which no other editor has.")
            }
            codecs.append(
                ColorTint(formatIdentifier: tint.identifier, formatVersion: tint.version))
        }
        return EditorRegistry(codecs)
    }
}
