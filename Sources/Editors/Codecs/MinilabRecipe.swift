public import Edits
public import FoundationEssentials

/// Minilab's own format: the canonical JSON of a recipe (`jobs/edit.schema.json`), in pixels of the full
/// photo.
///
/// An unknown filter or parameter is not skipped: a newer Minilab wrote it, so this one does not support the edit.
public struct MinilabRecipe: AdjustmentCodec {
    public let formatIdentifier = AdjustmentData.minilabFormatIdentifier
    public let formatVersions = [AdjustmentData.minilabFormatVersion]

    public init() {}

    public func read(_ data: Data, of photo: EditedPhoto) throws(Failure) -> AdjustmentReading {
        guard let text = String(validating: data, as: UTF8.self) else {
            throw Failure(
                .adjustmentDataUndecodable,
                "the adjustment data of \(formatIdentifier) are not UTF-8.")
        }
        do throws(Failure) {
            let recipe = try Recipe(recorded: text)
            guard !recipe.dependsOnSize else {
                throw Failure(
                    .invalidValue,
                    "it has relative values or a step that exists in requests only; expected pixels of the full photo."
                )
            }
            guard recipe.output.metadata?.isFilled ?? true else {
                throw Failure(
                    .invalidValue,
                    "output.metadata has placeholders; expected the values that were written, or the placeholders in the output of "
                        + "the job."
                )
            }
            return .recipe(try recipe.resolved(for: photo.uprightSize))
        } catch {
            switch error.code {
            case .unknownField, .unknownFilter, .unknownParameter:
                return .cannotHandle("\(error.message) A newer Minilab may know it.")
            default:
                throw Failure(
                    .adjustmentDataUndecodable,
                    "the adjustment data of \(formatIdentifier) are no recipe: \(error.message)")
            }
        }
    }

    public func write(_ recipe: Recipe, for photo: EditedPhoto) throws(Failure) -> Data {
        Data(try recipe.resolved(for: photo.uprightSize).json.canonical.utf8)
    }
}
