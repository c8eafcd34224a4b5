import Edits

/// The place in a document that an error refers to.
///
/// Errors of the contract begin with the field's path, such as `edit.filters[0].inputIntensity`. The path becomes a
/// JSON pointer (RFC 6901) only if the received document has that place, or has the object that lacks the field.
enum JSONPointer {
    /// - Parameters:
    ///   - message: the error's message, which begins with the path.
    ///   - document: the received document.
    ///   - roots: first words of a path that mean the document itself, such as `job`.
    /// - Returns: the pointer as a URI fragment; nil if the message names no place in the document.
    static func fragment(
        beginning message: String, in document: JSONValue, roots: [String]
    ) -> String? {
        guard var steps = steps(message.prefix { $0 != " " }) else { return nil }
        if let first = steps.first, roots.contains(first) { steps.removeFirst() }
        var value = document
        for (index, step) in steps.enumerated() {
            switch value {
            case .object(let fields):
                if let next = fields[step] {
                    value = next
                } else if index < steps.count - 1 {
                    return nil
                }
            case .array(let values):
                guard let position = Int(step), values.indices.contains(position) else {
                    return nil
                }
                value = values[position]
            default: return nil
            }
        }
        return "#" + steps.map { "/" + escaped($0) }.joined()
    }

    /// Splits `edit.filters[0].name` into its steps; returns nil for any other text.
    private static func steps(_ path: Substring) -> [String]? {
        var steps: [String] = []
        for part in path.split(separator: ".", omittingEmptySubsequences: false) {
            let pieces = part.split(separator: "[", omittingEmptySubsequences: false)
            guard let name = pieces.first, !name.isEmpty,
                name.utf8.allSatisfy({ isIdentifierCharacter($0) })
            else { return nil }
            steps.append(String(name))
            for index in pieces.dropFirst() {
                guard index.last == "]", let number = Int(index.dropLast()) else { return nil }
                steps.append("\(number)")
            }
        }
        return steps.isEmpty ? nil : steps
    }

    private static func isIdentifierCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private static func escaped(_ step: String) -> String {
        step.replacing("~", with: "~0").replacing("/", with: "~1")
    }
}
