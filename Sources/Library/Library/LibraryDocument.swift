package import Edits
package import FoundationEssentials

/// The JSON documents of a library: provenances, heads, records.
package enum LibraryDocument {
    /// - Parameter name: the document, as the subject of a sentence.
    package static func encoded(
        _ value: some Encodable, _ name: String,
        _ formatting: JSONEncoder.OutputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    ) throws(Failure) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = formatting
        do {
            return Array(try encoder.encode(value))
        } catch {
            throw Failure(.internalError, "\(name) does not encode: \(error)")
        }
    }

    private struct Format: Decodable {
        let format: Int?
        let formatVersion: Int?
    }

    /// Refuses a document of a later release.
    ///
    /// - Throws: `laterFormat`.
    package static func checkFormat(
        _ found: Int?, upTo known: Int, at location: String
    ) throws(Failure) {
        guard let found, found > known else { return }
        throw Failure(
            .laterFormat,
            "\(location) has the format version \(found); this Minilab reads up to \(known). A later release wrote it: "
                + "upgrade this one.")
    }

    /// Refuses a document of a later release that does not decode. Damaged bytes pass: they have no format.
    ///
    /// - Throws: `laterFormat`.
    package static func checkFormat(
        of bytes: [UInt8], upTo known: Int, at location: String
    ) throws(Failure) {
        let format: Format
        do {
            format = try JSONDecoder().decode(Format.self, from: Data(bytes))
        } catch {
            return
        }
        try checkFormat(format.formatVersion ?? format.format, upTo: known, at: location)
    }
}

extension Date {
    /// The time of an RFC 3339 text; nil if it cannot be read. The caller decides what an unknown time means.
    package init?(recorded text: String) {
        do {
            try self.init(text, strategy: .iso8601)
        } catch {
            return nil
        }
    }
}
