public import Edits

/// The supported formats of adjustment data: a codec by format identifier.
///
/// Dispatch uses only `formatIdentifier` and `formatVersion`, never the bytes: the same bytes mean sepia 0.8 in one editor and
/// sepia 1.0 in another.
public struct EditorRegistry: Sendable {
    private let codecs: [String: any AdjustmentCodec]

    /// Creates a registry of codecs with distinct identifiers.
    public init(_ codecs: [any AdjustmentCodec]) {
        self.codecs = Dictionary(uniqueKeysWithValues: codecs.map { ($0.formatIdentifier, $0) })
    }

    /// Returns the codec of a format, for any version.
    public func codec(of formatIdentifier: String) -> (any AdjustmentCodec)? {
        codecs[formatIdentifier]
    }

    /// All codecs, by identifier.
    public var all: [any AdjustmentCodec] {
        codecs.values.sorted { $0.formatIdentifier < $1.formatIdentifier }
    }

    /// Answers PhotoKit's question `canHandle(adjustmentData)`, with the decoded edit if the answer is yes.
    ///
    /// Never throws: data that cannot be decoded are reported as not handled, with the reason.
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
    /// Yes, with the edit, in pixels of the full photo.
    case canHandle(Recipe)
    /// No: the format, its version, or something in the edit is not supported.
    case cannotHandle(String)
    /// No: the format is supported, but the bytes violate it.
    case undecodable(Failure)
}
