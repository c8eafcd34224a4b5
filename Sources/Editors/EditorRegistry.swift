public import Edits
public import FoundationEssentials

/// The supported formats of adjustment data: a codec by format identifier.
///
/// Dispatch uses only `formatIdentifier` and `formatVersion`, never the bytes: the same bytes mean sepia 0.8 in one editor and
/// sepia 1.0 in another.
public struct EditorRegistry: Sendable {
    private let codecs: [String: any AdjustmentCodec]
    /// The formats that settings add to the usual ones, in words; empty for nothing. Workers of one release and of one variant read the same
    /// edits.
    public private(set) var variant = ""

    public init(_ codecs: [any AdjustmentCodec]) {
        self.codecs = Dictionary(uniqueKeysWithValues: codecs.map { ($0.formatIdentifier, $0) })
    }

    public func codec(of formatIdentifier: String) -> (any AdjustmentCodec)? {
        codecs[formatIdentifier]
    }

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
        var codecs: [any AdjustmentCodec] =
            [
                MinilabRecipe(), ApplePhoto(lookAlikes: lookAlikes), AppleVideo.video,
                AppleVideo.slowMotion,
            ] + SampleEditors.all.formats
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
            codecs.append(WordFormat(colorTintAs: tint.identifier, version: tint.version))
        }
        var registry = EditorRegistry(codecs)
        registry.variant = [
            lookAlikes ? "lookalikes" : nil, tint.map { "tint \($0.identifier)/\($0.version)" },
        ].compactMap(\.self).joined(separator: ", ")
        return registry
    }
}

/// Reads and writes one format of adjustment data.
///
/// A new format is one new file in `Codecs` and one line in ``EditorRegistry``; a format whose data are a word that stands for a
/// filter is an entry of `SampleEditors.json`. Data are untrusted: a codec bounds its input,
/// rejects everything that it does not support and never guesses.
public protocol AdjustmentCodec: Sendable {
    /// The format identifier, as reverse DNS; compared exactly.
    var formatIdentifier: String { get }
    var formatVersions: [String] { get }
    /// The version that it writes: the newest, unless more apps support an older one.
    var writtenVersion: String { get }

    /// Decodes an edit.
    ///
    /// - Returns: the recipe, in pixels of the full photo; or the reason why this codec does not support the edit.
    /// - Throws: `adjustmentDataUndecodable` if the bytes violate the format.
    func read(_ data: Data, of photo: EditedPhoto) throws(Failure) -> AdjustmentReading

    /// Encodes a recipe, in pixels of the full photo.
    ///
    /// - Throws: `adjustmentDataNotEncodable` if the format cannot express something in the recipe.
    func write(_ recipe: Recipe, for photo: EditedPhoto) throws(Failure) -> Data
}

extension AdjustmentCodec {
    public var writtenVersion: String {
        guard let newest = formatVersions.last else {
            preconditionFailure("\(formatIdentifier) has no version")
        }
        return newest
    }
}

/// The result of reading adjustment data.
public enum AdjustmentReading: Sendable, Equatable {
    case recipe(Recipe)
    /// The data are well-formed, but the edit contains something unsupported; the sentence names it.
    case cannotHandle(String)
}

/// The properties of the edited photo that codecs need.
public struct EditedPhoto: Sendable, Equatable {
    /// Its size as stored, before orientation.
    public let storedSize: PixelSize
    /// Its EXIF orientation.
    public let orientation: Orientation

    public init(storedSize: PixelSize, orientation: Orientation) {
        self.storedSize = storedSize
        self.orientation = orientation
    }

    public var uprightSize: PixelSize { orientation.size(of: storedSize) }
}

/// The layer of an asset from which an edit starts: the core of PhotoKit's contract.
public enum EditingInput: String, Sendable, Codable {
    case original
    /// The input of the most recent edit, if that was not the original.
    case base
    /// The newest render, with all edits baked in: for editors that cannot read the past edit.
    case current

    /// The state of an asset when it is opened.
    public enum State: Sendable, Equatable {
        case unedited
        /// The asset has an edit, which was made on the original or on a base.
        case edited(hasBase: Bool, canHandle: Bool)
    }

    /// The decision table.
    ///
    /// | asset | can handle | input |
    /// |---|---|---|
    /// | never edited, or reverted | not asked | original |
    /// | edited on the original | yes | original, with the past edit |
    /// | edited on a base | yes | base, with the past edit |
    /// | edited | no | current, with all past edits baked in |
    ///
    /// Source: PhotoKit's `PHContentEditingInput` and its resource types. The guides leave the base implicit: without it, an editor
    /// that stacked its edit on another editor's would lose that edit when its own is changed.
    public static func choose(_ state: State) -> EditingInput {
        switch state {
        case .unedited: return .original
        case .edited(hasBase: true, canHandle: true): return .base
        case .edited(hasBase: false, canHandle: true): return .original
        case .edited(_, canHandle: false): return .current
        }
    }
}
