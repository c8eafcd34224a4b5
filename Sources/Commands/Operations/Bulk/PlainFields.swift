package import Edits

/// The fields of a line with simple syntax, as bytes.
struct PlainFields {
    private(set) var asset: UnsafeRawBufferPointer?
    private(set) var edit: UnsafeRawBufferPointer?
    private(set) var cost: Int?

    /// Returns nil if the syntax of the line is not simple, or is invalid.
    init?(_ bytes: UnsafeRawBufferPointer) {
        var cursor = Cursor(bytes: bytes)
        guard cursor.skip(UInt8(ascii: "{")) else { return nil }
        repeat {
            guard let name = cursor.plainString(), cursor.skip(UInt8(ascii: ":")) else {
                return nil
            }
            if name.elementsEqual("asset".utf8), asset == nil {
                guard let text = cursor.plainString() else { return nil }
                asset = text
            } else if name.elementsEqual("edit".utf8), edit == nil {
                guard let text = cursor.object() else { return nil }
                edit = text
            } else if name.elementsEqual("cost".utf8), cost == nil {
                guard let number = cursor.number(), (1...ContractLimits.costMax).contains(number)
                else { return nil }
                cost = number
            } else {
                return nil
            }
        } while cursor.skip(UInt8(ascii: ","))
        guard cursor.skip(UInt8(ascii: "}")), cursor.isAtEnd else { return nil }
    }
}

private struct Cursor {
    let bytes: UnsafeRawBufferPointer
    var index = 0

    var isAtEnd: Bool { index == bytes.count }

    private mutating func skipSpace() {
        while index < bytes.count, bytes[index] == 0x20 || bytes[index] == 0x09 { index += 1 }
    }

    mutating func skip(_ byte: UInt8) -> Bool {
        skipSpace()
        guard index < bytes.count, bytes[index] == byte else { return false }
        index += 1
        return true
    }

    /// Reads a string of plain ASCII without escapes.
    mutating func plainString() -> UnsafeRawBufferPointer? {
        guard skip(UInt8(ascii: "\"")) else { return nil }
        let start = index
        while index < bytes.count {
            let byte = bytes[index]
            if byte == UInt8(ascii: "\"") {
                index += 1
                return UnsafeRawBufferPointer(rebasing: bytes[start..<index - 1])
            }
            guard (0x20..<0x7F).contains(byte), byte != UInt8(ascii: "\\") else { return nil }
            index += 1
        }
        return nil
    }

    /// Reads an object up to its closing bracket; its validity is checked when it is parsed.
    mutating func object() -> UnsafeRawBufferPointer? {
        skipSpace()
        guard index < bytes.count, bytes[index] == UInt8(ascii: "{") else { return nil }
        let start = index
        var depth = 0
        var isInString = false
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            if isInString {
                if byte == UInt8(ascii: "\\") { index += 1 }
                if byte == UInt8(ascii: "\"") { isInString = false }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isInString = true
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                if depth == 0 { return UnsafeRawBufferPointer(rebasing: bytes[start..<index]) }
            default: break
            }
        }
        return nil
    }

    mutating func number() -> Int? {
        skipSpace()
        let start = index
        while index < bytes.count, (0x30...0x39).contains(bytes[index]), index - start < 10 {
            index += 1
        }
        // A leading zero is not valid JSON.
        guard index > start, bytes[start] != 0x30 else { return nil }
        return bytes[start..<index].reduce(0) { $0 * 10 + Int($1 - 0x30) }
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
    }

    /// The maximum number of different edit texts that are cached, and their maximum total size in bytes.
    private static let textsMax = 1000
    private static let bytesMax = 16 << 20

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
            asset: member.asset, edit: member.edit?.json.canonical, cost: member.cost)
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
        if edits.count >= Self.textsMax || rememberedBytes + key.count > Self.bytesMax {
            edits = [:]
            rememberedBytes = 0
        }
        edits[key] = edit
        rememberedBytes += key.count
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
