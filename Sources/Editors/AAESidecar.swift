public import Edits
public import FoundationEssentials

/// An `.AAE` file: a property list in which Apple's tools store adjustment data beside a photo.
///
/// The keys are those that iPhones write; ExifTool recognises the type by `adjustmentBaseVersion`.
public struct AAESidecar: Sendable, Equatable {
    /// 0: the edit was made on the original; 1: on an adjusted base.
    public let adjustmentBaseVersion: Int
    /// The edit: 1 to `AdjustmentData.bytesMax` bytes.
    public let adjustmentData: Data
    /// The editor; empty for data that a camera wrote while it recorded a video.
    public let adjustmentEditorBundleID: String
    /// The format of `adjustmentData`.
    public let adjustmentFormatIdentifier: String
    /// The version of that format.
    public let adjustmentFormatVersion: String
    /// Bits of unpublished meaning, if present; 0 for a still photo.
    public let adjustmentRenderTypes: Int?
    /// The time of the edit, if present, in whole seconds: XML cannot express others.
    public let adjustmentTimestamp: Date?

    /// The input on which the edit was made.
    public enum Base: Int, Sendable {
        /// The original.
        case original = 0
        /// The result of another editor.
        case adjusted = 1
    }

    /// Minilab's identifier as an editor in the files that it writes.
    public static let editorBundleID = "org.minilab.worker"
    /// Most bytes of a file.
    public static let fileBytesMax = PropertyListLimits.bytesMax
    /// Longest identifier, version or bundle id in bytes. Real ones have up to 40.
    static let textBytesMax = 255

    /// Creates the sidecar of one of Minilab's edits.
    public init(_ adjustment: AdjustmentData, on base: Base = .original, timestamp: Date) {
        adjustmentBaseVersion = base.rawValue
        adjustmentData = adjustment.data
        adjustmentEditorBundleID = Self.editorBundleID
        adjustmentFormatIdentifier = adjustment.formatIdentifier
        adjustmentFormatVersion = adjustment.formatVersion
        adjustmentRenderTypes = 0
        adjustmentTimestamp = Self.wholeSeconds(timestamp)
    }

    /// The input on which the edit was made.
    public var base: Base { Base(rawValue: adjustmentBaseVersion) ?? .adjusted }

    /// The edit, for an editor.
    public var adjustment: AdjustmentData {
        AdjustmentData(
            formatIdentifier: adjustmentFormatIdentifier, formatVersion: adjustmentFormatVersion,
            data: adjustmentData)
    }

    /// Encodes the file's bytes, as XML.
    ///
    /// - Throws: `badSidecar` if XML cannot express an identifier or a version.
    public func encoded() throws(Failure) -> Data {
        var fields: [String: PropertyList] = [
            "adjustmentBaseVersion": .integer(adjustmentBaseVersion),
            "adjustmentData": .data(adjustmentData),
            "adjustmentEditorBundleID": .string(adjustmentEditorBundleID),
            "adjustmentFormatIdentifier": .string(adjustmentFormatIdentifier),
            "adjustmentFormatVersion": .string(adjustmentFormatVersion),
        ]
        fields["adjustmentRenderTypes"] = adjustmentRenderTypes.map { .integer($0) }
        fields["adjustmentTimestamp"] = adjustmentTimestamp.map { .date($0) }
        do throws(PropertyListError) {
            return try PropertyList.dictionary(fields).xml()
        } catch {
            throw Failure(.badSidecar, "the sidecar cannot be written: \(error.message)")
        }
    }

    private static func wholeSeconds(_ date: Date) -> Date {
        Date(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate.rounded(.down))
    }
}

extension AAESidecar {
    /// Reads a file, XML or binary. Unknown keys are ignored: Apple adds some with each system.
    ///
    /// - Throws: `badSidecar` if the bytes are no property list within ``PropertyListLimits``, or a value is missing, of another
    ///   type, or not allowed.
    public init(bytes: Data) throws(Failure) {
        let list: PropertyList
        do throws(PropertyListError) {
            list = try PropertyList(bytes: bytes)
        } catch {
            throw Failure(.badSidecar, "the sidecar is no property list: \(error.message)")
        }
        let fields = try AAEFields(list)
        adjustmentBaseVersion = try fields.integer("adjustmentBaseVersion")
        guard Base(rawValue: adjustmentBaseVersion) != nil else {
            throw Failure(
                .badSidecar,
                "adjustmentBaseVersion of the sidecar is \(adjustmentBaseVersion); "
                    + "expected 0 (made on the original) or 1 (made on an adjusted base).")
        }
        adjustmentData = try fields.data("adjustmentData")
        adjustmentEditorBundleID = try fields.optionalText("adjustmentEditorBundleID") ?? ""
        adjustmentFormatIdentifier = try fields.text("adjustmentFormatIdentifier")
        adjustmentFormatVersion = try fields.text("adjustmentFormatVersion")
        adjustmentRenderTypes = try fields.optionalInteger("adjustmentRenderTypes")
        adjustmentTimestamp = try fields.optionalDate("adjustmentTimestamp").map(Self.wholeSeconds)
    }
}
