public import Adjustments

extension EditorRegistry {
    /// Every format that Minilab knows.
    ///
    /// - Parameters:
    ///   - lookAlikes: whether tone and colour of Apple's Photos are rendered by filters that look about alike.
    ///   - tint: identifier and version that the app "Color Tint" was built with, if there is one.
    /// - Throws: `invalidValue` for a tint without a name, or with one that another editor has.
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
