import Edits
import FoundationEssentials

/// The content of `com.apple.photo`: a JSON document in a bare DEFLATE stream.
///
///     {"metadata": {"masterWidth", "masterHeight", "orientation"}, "formatVersion": 1, "versionInfo": {…},
///      "adjustments": [{"identifier", "enabled", "formatVersion": 1, "settings": {…}, "auto": {…}}]}
///
/// Source: payloads of iOS 12 to 18 and macOS 10.14 to 15. `auto`, `statistics` and `lightMap` contain results of the photo's
/// analysis, not edits.
struct ApplePhotoDocument {
    /// Most bytes of JSON that are parsed. Real documents have 0.2 to 10 KB, those with brush strokes more.
    static let bytesMax = 128 << 10
    /// Most adjustments. Apple's Photos has some thirty kinds, each at most once.
    static let adjustmentsMax = 64

    /// One adjustment of the photo.
    struct Adjustment {
        let identifier: String
        /// False for an adjustment that is switched off but stored.
        let isEnabled: Bool
        let settings: [String: JSONValue]
    }

    /// The orientation of the edit's result: the turn that makes the stored photo upright, the photo's own EXIF included. Nil if it
    /// is unspecified (0), as cameras write it.
    let orientation: Orientation?
    /// Sides of the photo, in pixels; nil if unspecified. Real documents contain all variants: as stored or as displayed, before or
    /// after the crop.
    let masterSize: PixelSize?
    let adjustments: [Adjustment]
}

extension ApplePhotoDocument {
    /// Reads a document.
    ///
    /// - Parameter ascii: inflated, at most ``bytesMax``.
    /// - Throws: `adjustmentDataUndecodable`.
    init(ascii: Data) throws(Failure) {
        let json: JSONValue
        do throws(Failure) {
            json = try JSONValue(
                parsing: String(decoding: ascii, as: UTF8.self), as: "the document")
        } catch {
            throw Self.undecodable(error.message)
        }
        guard case .object(let fields) = json else {
            throw Self.undecodable("the document is no JSON object.")
        }
        try Self.check(fields["formatVersion"], of: "the document")
        let metadata = try Self.object(fields["metadata"] ?? .object([:]), "metadata")
        let number = try Self.wholeNumber(metadata["orientation"] ?? .number(0), "orientation")
        guard (0...8).contains(number) else {
            throw Self.undecodable("metadata.orientation is \(number); expected 0 to 8.")
        }
        orientation = Orientation(rawValue: number)
        let width = try Self.wholeNumber(metadata["masterWidth"] ?? .number(0), "masterWidth")
        let height = try Self.wholeNumber(metadata["masterHeight"] ?? .number(0), "masterHeight")
        masterSize = width > 0 && height > 0 ? PixelSize(width: width, height: height) : nil
        guard case .array(let values) = fields["adjustments"] ?? .null,
            values.count <= Self.adjustmentsMax
        else {
            throw Self.undecodable(
                "adjustments is missing, no array, or longer than \(Self.adjustmentsMax).")
        }
        var adjustments: [Adjustment] = []
        for value in values { adjustments.append(try Adjustment(value)) }
        self.adjustments = adjustments
    }

    /// Writes a document in the form of Apple's Photos.
    func data() -> Data {
        var metadata: [String: JSONValue] = [
            "orientation": .number(Double(orientation?.rawValue ?? 0))
        ]
        metadata["masterWidth"] = .number(Double(masterSize?.width ?? 0))
        metadata["masterHeight"] = .number(Double(masterSize?.height ?? 0))
        let document: JSONValue = .object([
            "metadata": .object(metadata), "formatVersion": .number(1),
            // The form of a phone that does not name its app.
            "versionInfo": .object([
                "appVersion": .string(""), "buildNumber": .string(""),
                "platform": .string("iOS"), "schemaRevision": .number(0),
            ]),
            "adjustments": .array(adjustments.map(\.json)),
        ])
        return Deflate.deflate(Data(document.canonical.utf8), .none)
    }

    static func undecodable(_ reason: String) -> Failure {
        Failure(
            .adjustmentDataUndecodable,
            "the adjustment data of com.apple.photo cannot be read: \(reason)")
    }

    /// Returns an integer that a `Double` represents exactly.
    static func wholeNumber(_ value: JSONValue, _ name: String) throws(Failure) -> Int {
        guard case .number(let number) = value, number == number.rounded(), abs(number) < 1e9 else {
            throw undecodable("\(name) is \(short(value)); expected a whole number below 10⁹.")
        }
        return Int(number)
    }

    /// Returns a value for an error.
    static func short(_ value: JSONValue) -> String { String(value.canonical.prefix(60)) }

    fileprivate static func object(_ value: JSONValue, _ name: String) throws(Failure) -> [String:
        JSONValue]
    {
        guard case .object(let fields) = value else {
            throw undecodable("\(name) is \(short(value)); expected an object.")
        }
        return fields
    }

    fileprivate static func check(_ version: JSONValue?, of what: String) throws(Failure) {
        guard version == nil || version == .number(1) else {
            throw undecodable(
                "\(what) has the formatVersion \(short(version ?? .null)); expected 1.")
        }
    }
}

extension ApplePhotoDocument.Adjustment {
    fileprivate init(_ value: JSONValue) throws(Failure) {
        typealias Document = ApplePhotoDocument
        let fields = try Document.object(value, "an adjustment")
        guard case .string(let identifier) = fields["identifier"] ?? .null,
            identifier.utf8.count <= 100
        else { throw Document.undecodable("an adjustment has no identifier of up to 100 bytes.") }
        try Document.check(fields["formatVersion"], of: identifier)
        self.identifier = identifier
        switch fields["enabled"] {
        case nil, .bool(true), .number(1): isEnabled = true
        case .bool(false), .number(0): isEnabled = false
        case .some(let value):
            throw Document.undecodable(
                "\(identifier) is enabled: \(Document.short(value)); expected true, false, 1 or 0.")
        }
        settings = try Document.object(fields["settings"] ?? .object([:]), "\(identifier).settings")
    }

    fileprivate var json: JSONValue {
        .object([
            "identifier": .string(identifier), "enabled": .bool(isEnabled),
            "formatVersion": .number(1),
            "settings": .object(settings),
        ])
    }
}
