package import Edits

/// The fields of a line with simple syntax, as bytes.
struct PlainFields {
    private(set) var asset: UnsafeRawBufferPointer?
    private(set) var edit: UnsafeRawBufferPointer?
    private(set) var cost: Int?

    /// Returns nil if the syntax of the line is not simple, or is invalid.
    init?(_ bytes: UnsafeRawBufferPointer) {
        var cursor = PlainJSON(bytes)
        guard cursor.skip(UInt8(ascii: "{")) else { return nil }
        repeat {
            guard let name = cursor.stringBytes(), cursor.skip(UInt8(ascii: ":")) else {
                return nil
            }
            if name.elementsEqual("asset".utf8), asset == nil {
                guard let text = cursor.stringBytes() else { return nil }
                asset = text
            } else if name.elementsEqual("edit".utf8), edit == nil {
                guard let text = cursor.objectBytes() else { return nil }
                edit = text
            } else if name.elementsEqual("cost".utf8), cost == nil {
                guard let number = cursor.count(), (1...ContractLimits.costMax).contains(number)
                else { return nil }
                cost = number
            } else {
                return nil
            }
        } while cursor.skip(UInt8(ascii: ","))
        guard cursor.skip(UInt8(ascii: "}")), cursor.isAtEnd() else { return nil }
    }
}

/// A fast parser of lines of jobs: an edit that many lines repeat is parsed once.
///
/// A simple line (an object with `asset`, `edit` and `cost`, without escapes) is split by its bytes. Any other line is decoded by
/// ``BatchMember``, which reports its faults.
package struct MemberParser {
    package struct Parsed: Sendable {
        package let asset: AssetPath
        /// The edit as canonical JSON; nil if the line contains none.
        package let edit: String?
        package let cost: Int?
        package var fields: AssetFields?
    }

    /// The maximum number of different edit texts that are cached, and their maximum total size in bytes, with that of what they were read
    /// as: a gateway parses up to 64 bodies at a time.
    private static let textsMax = 1000
    private static let bytesMax = 2 << 20

    private var lastText: [UInt8] = []
    private var lastEdit: String?
    private var edits: [[UInt8]: String] = [:]
    private var rememberedBytes = 0

    package init() {}

    /// Parses a line; nil for an empty one.
    ///
    /// - Parameters:
    ///   - bytes: The line without its end; nil if it exceeds the maximum length.
    ///   - number: The number of the line, from 1.
    /// - Throws: The fault of the line.
    package mutating func parse(
        _ bytes: UnsafeRawBufferPointer?, line number: Int
    ) throws(Failure) -> Parsed? {
        guard let whole = bytes else {
            throw Failure(
                .oversizedField,
                "it has more than \(ContractLimits.jobBytesMax) bytes, which is the most a job may have."
            )
        }
        let bytes = (number == 1 ? whole.withoutByteOrderMark : whole).trimmed
        guard let first = bytes.first else { return nil }
        guard first == UInt8(ascii: "{") else {
            return Parsed(asset: try AssetPath(bytes.text()), edit: nil, cost: nil)
        }
        if let fields = PlainFields(bytes), let asset = fields.asset {
            return Parsed(
                asset: try AssetPath(asset.text()),
                edit: try fields.edit.map { text throws(Failure) in try canonical(text) },
                cost: fields.cost)
        }
        let member = try BatchMember(json: bytes.text())
        return Parsed(
            asset: member.asset, edit: member.edit?.json.canonical, cost: member.cost,
            fields: member.fields)
    }

    private mutating func canonical(_ text: UnsafeRawBufferPointer) throws(Failure) -> String {
        if let lastEdit, text.elementsEqual(lastText) { return lastEdit }
        let key = Array(text)
        if let known = edits[key] {
            lastText = key
            lastEdit = known
            return known
        }
        let edit = try Edit(json: text.text()).json.canonical
        let size = key.count + edit.utf8.count
        if edits.count >= Self.textsMax || rememberedBytes + size > Self.bytesMax {
            edits = [:]
            rememberedBytes = 0
        }
        edits[key] = edit
        rememberedBytes += size
        lastText = key
        lastEdit = edit
        return edit
    }
}

extension UnsafeRawBufferPointer {
    /// - Throws: `invalidValue` if the bytes are not UTF-8.
    fileprivate func text() throws(Failure) -> String {
        guard let text = String(validating: self, as: UTF8.self) else {
            throw Failure(
                .invalidValue, "it is not UTF-8; paths and edits are given in UTF-8.")
        }
        return text
    }

    /// Removes the three bytes (a byte-order mark) that some editors write at the beginning of a file.
    fileprivate var withoutByteOrderMark: UnsafeRawBufferPointer {
        starts(with: [0xEF, 0xBB, 0xBF]) ? UnsafeRawBufferPointer(rebasing: dropFirst(3)) : self
    }

    fileprivate var trimmed: UnsafeRawBufferPointer {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }
        var (from, to) = (0, count)
        while from < to, isSpace(self[from]) { from += 1 }
        while to > from, isSpace(self[to - 1]) { to -= 1 }
        return UnsafeRawBufferPointer(rebasing: self[from..<to])
    }
}
