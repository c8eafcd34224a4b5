import Edits

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

/// A position in a line.
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
