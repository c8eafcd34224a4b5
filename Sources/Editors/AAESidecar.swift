public import FoundationEssentials

/// An `.AAE` file: adjustment data as Apple's tools keep it beside a photo, an XML property list.
///
/// Keys as iPhones write them; ExifTool knows the type by `adjustmentBaseVersion`.
public struct AAESidecar: Sendable, Equatable, Codable {
    /// 0: the edit was made on the original. 1: on an adjusted base.
    public let adjustmentBaseVersion: Int
    /// The edit.
    public let adjustmentData: Data
    /// Who made it.
    public let adjustmentEditorBundleID: String
    /// The format of `adjustmentData`.
    public let adjustmentFormatIdentifier: String
    /// The version of that format.
    public let adjustmentFormatVersion: String
    /// Bits of unpublished meaning; 0 for a still photo.
    public let adjustmentRenderTypes: Int
    /// When it was made.
    public let adjustmentTimestamp: Date

    /// The editor that Minilab names in the files it writes.
    public static let editorBundleID = "org.minilab.worker"

    /// Makes a sidecar.
    ///
    /// - Parameter hasBase: whether the edit was made on an adjusted base, not on the original.
    public init(_ adjustment: AdjustmentData, hasBase: Bool = false, timestamp: Date) {
        adjustmentBaseVersion = hasBase ? 1 : 0
        adjustmentData = adjustment.data
        adjustmentEditorBundleID = Self.editorBundleID
        adjustmentFormatIdentifier = adjustment.formatIdentifier
        adjustmentFormatVersion = adjustment.formatVersion
        adjustmentRenderTypes = 0
        adjustmentTimestamp = timestamp
    }

    /// The file's bytes.
    public func encoded() throws(Failure) -> Data {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .xml
        do {
            return try encoder.encode(self)
        } catch {
            throw Failure(.internalError, "the sidecar does not encode: \(error)")
        }
    }
}
