public import Adjustments

/// Which formats of adjustment data can be read and written: a codec by format identifier.
///
/// Dispatch is by `formatIdentifier` and `formatVersion` alone, never by looking at the bytes: the same bytes
/// mean sepia 0.8 to one editor and sepia 1.0 to another.
public struct EditorRegistry: Sendable {
    private let codecs: [String: any AdjustmentCodec]

    /// A registry of codecs, no two of one identifier.
    public init(_ codecs: [any AdjustmentCodec]) {
        self.codecs = Dictionary(uniqueKeysWithValues: codecs.map { ($0.formatIdentifier, $0) })
    }

    /// The codec of a format, whatever the version.
    public func codec(of formatIdentifier: String) -> (any AdjustmentCodec)? {
        codecs[formatIdentifier]
    }

    /// All codecs, by identifier.
    public var all: [any AdjustmentCodec] {
        codecs.values.sorted { $0.formatIdentifier < $1.formatIdentifier }
    }

    /// Answers PhotoKit's question `canHandle(adjustmentData)`, with the decoded edit where it is yes.
    ///
    /// Never fails: data that cannot be decoded are not handled, for the reason given.
    public func open(_ adjustment: AdjustmentData, of photo: EditedPhoto) -> EditorAnswer {
        guard let codec = codecs[adjustment.formatIdentifier] else {
            return .cannotHandle("no editor here reads \(adjustment.format).")
        }
        guard codec.formatVersions.contains(adjustment.formatVersion) else {
            return .cannotHandle(
                "the editor of \(codec.formatIdentifier) reads the versions "
                    + "\(codec.formatVersions.joined(separator: ", ")), not "
                    + "\(adjustment.formatVersion.debugDescription)."
                    + (adjustment.formatIdentifier == AdjustmentData.minilabFormatIdentifier
                        ? " A later Minilab wrote them: upgrade this one." : ""))
        }
        guard !adjustment.data.isEmpty, adjustment.data.count <= AdjustmentData.bytesMax else {
            return .undecodable(
                Failure(
                    .adjustmentDataUndecodable,
                    "the adjustment data of \(adjustment.format) have \(adjustment.data.count) bytes; "
                        + "expected 1 to \(AdjustmentData.bytesMax)."))
        }
        do throws(Failure) {
            switch try codec.read(adjustment.data, of: photo) {
            case .recipe(let recipe): return .canHandle(recipe)
            case .cannotHandle(let reason): return .cannotHandle(reason)
            }
        } catch {
            return .undecodable(error)
        }
    }
}

/// The answer to `canHandle(adjustmentData)`.
public enum EditorAnswer: Sendable, Equatable {
    /// Yes: this is the edit, in pixels of the full photo.
    case canHandle(Recipe)
    /// No: the format, its version, or something in the edit is unknown here.
    case cannotHandle(String)
    /// No: the format is known, but these are not its bytes.
    case undecodable(Failure)
}
