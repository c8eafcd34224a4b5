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
    public let adjustmentFormatVersion: String
    /// Bits of unpublished meaning, if present; 0 for a still photo.
    public let adjustmentRenderTypes: Int?
    /// The time of the edit, if present, in whole seconds: XML cannot express others.
    public let adjustmentTimestamp: Date?

    /// The input on which the edit was made.
    public enum Base: Int, Sendable {
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

    public var base: Base { Base(rawValue: adjustmentBaseVersion) ?? .adjusted }

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

/// The values of an `.AAE` file by key, each checked on access.
struct AAEFields {
    private let fields: [String: PropertyList]

    /// - Throws: `badSidecar` if the outermost value is not a dictionary. All other functions here throw the same code.
    init(_ list: PropertyList) throws(Failure) {
        guard case .dictionary(let fields) = list else {
            throw Failure(.badSidecar, "the sidecar is \(list.kind); expected a dictionary.")
        }
        self.fields = fields
    }

    func integer(_ key: String) throws(Failure) -> Int {
        guard let value = try optionalInteger(key) else { throw missing(key, "a whole number") }
        return value
    }

    func optionalInteger(_ key: String) throws(Failure) -> Int? {
        switch fields[key] {
        case nil: return nil
        case .integer(let value): return value
        case let other?: throw wrong(key, other, "a whole number")
        }
    }

    /// Returns text of 1 to ``AAESidecar/textBytesMax`` bytes.
    func text(_ key: String) throws(Failure) -> String {
        guard let text = try optionalText(key) else { throw missing(key, "text") }
        guard !text.isEmpty else {
            throw Failure(.badSidecar, "\(key) of the sidecar is empty; expected a name.")
        }
        return text
    }

    func optionalText(_ key: String) throws(Failure) -> String? {
        switch fields[key] {
        case nil: return nil
        case .string(let text):
            guard text.utf8.count <= AAESidecar.textBytesMax else {
                throw Failure(
                    .badSidecar,
                    "\(key) of the sidecar has \(text.utf8.count) bytes; expected at most "
                        + "\(AAESidecar.textBytesMax).")
            }
            // XML could not express other characters when the file is written again.
            let isSpelled = text.unicodeScalars.allSatisfy {
                $0.properties.generalCategory != .control && !$0.properties.isNoncharacterCodePoint
            }
            guard isSpelled else {
                throw Failure(
                    .badSidecar,
                    "\(key) of the sidecar is \(text.debugDescription); "
                        + "expected no control characters or noncharacters.")
            }
            return text
        case let other?: throw wrong(key, other, "text")
        }
    }

    /// Returns data of 1 to `AdjustmentData.bytesMax` bytes.
    func data(_ key: String) throws(Failure) -> Data {
        switch fields[key] {
        case nil: throw missing(key, "data")
        case .data(let data):
            guard (1...AdjustmentData.bytesMax).contains(data.count) else {
                throw Failure(
                    .badSidecar,
                    "\(key) of the sidecar has \(data.count) bytes; expected 1 to "
                        + "\(AdjustmentData.bytesMax).")
            }
            return data
        case let other?: throw wrong(key, other, "data")
        }
    }

    func optionalDate(_ key: String) throws(Failure) -> Date? {
        switch fields[key] {
        case nil: return nil
        case .date(let date): return date
        case let other?: throw wrong(key, other, "a date")
        }
    }

    private func missing(_ key: String, _ expected: String) -> Failure {
        Failure(.badSidecar, "\(key) is missing in the sidecar; expected \(expected).")
    }

    private func wrong(_ key: String, _ value: PropertyList, _ expected: String) -> Failure {
        Failure(.badSidecar, "\(key) of the sidecar is \(value.summary); expected \(expected).")
    }
}

extension PropertyList {
    /// The value for an error: its kind, and the value itself if it is short.
    fileprivate var summary: String {
        switch self {
        case .integer(let value), .uid(let value): "\(kind) (\(value))"
        case .real(let value): "\(kind) (\(value))"
        case .boolean(let value): "\(kind) (\(value))"
        case .string(let text): "\(kind) (\(String(text.prefix(40)).debugDescription))"
        case .data(let data): "\(kind) (\(data.count) bytes)"
        case .array(let values): "\(kind) (\(values.count) values)"
        case .dictionary(let pairs): "\(kind) (\(pairs.count) keys)"
        case .date: kind
        }
    }
}
