import ArgumentParser
import Edits
import FoundationEssentials

/// The renditions that flags name.
struct RenditionOptions: ParsableArguments {
    @Option(
        name: .customLong("rendition"), parsing: .singleValue,
        help: ArgumentHelp(
            "A picture to make beside the render, such as web:box=2048x2048,format=avif,quality=0.7; may be given again. "
                + "The keys are those of a rendition in jobs/edit.schema.json; a box with one side is 1200x or x800. An edit "
                + "that is there already gets the missing ones.",
            valueName: "name:key=value,…"))
    var renditions: [String] = []

    var isGiven: Bool { !renditions.isEmpty }

    /// Returns an edit's own renditions, and those of the flags; of two with one name, that of the flags.
    func applied(to own: Renditions) throws -> Renditions {
        var fields: [String: JSONValue] = [:]
        for text in renditions {
            let (name, rendition) = try Self.named(text)
            guard fields[name] == nil else {
                throw ValidationError("--rendition \(name) is given twice.")
            }
            fields[name] = rendition
        }
        let byName = own.json.fields.merging(fields) { _, given in given }
        return byName.isEmpty
            ? Renditions() : try Renditions(.object(byName), at: "--rendition")
    }

    /// Parses `name:key=value,…`.
    private static func named(_ text: String) throws -> (String, JSONValue) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        var fields: [String: JSONValue] = [:]
        for pair in pairs(parts.count > 1 ? parts[1] : "") {
            let sides = pair.split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard sides.count == 2, !sides[0].isEmpty else {
                throw ValidationError(
                    "--rendition \(text): \(String(pair).debugDescription) is not key=value.")
            }
            let (key, value) = (String(sides[0]), String(sides[1]))
            fields[key] = self.value(of: key, value)
        }
        return (String(parts[0]), .object(fields))
    }

    private static func value(of key: String, _ text: String) -> JSONValue {
        if key == "box", let box = box(text) { return box }
        let startsAsJSON = text.first.map { "-0123456789[{\"".contains($0) } ?? false
        guard startsAsJSON || ["true", "false"].contains(text) else { return .string(text) }
        do {
            return try JSONValue(parsing: text, as: "--rendition \(key)")
        } catch {
            // The field itself says what it expects, or that there is none of this name.
            return .string(text)
        }
    }

    /// Parses `2048x2048`, `1200x` or `x800`; nil: it is something else.
    private static func box(_ text: String) -> JSONValue? {
        let sides = text.split(separator: "x", omittingEmptySubsequences: false)
        guard sides.count == 2 else { return nil }
        var values: [JSONValue] = []
        for side in sides {
            guard !side.isEmpty else {
                values.append(.null)
                continue
            }
            guard let number = Double(side) else { return nil }
            values.append(.number(number))
        }
        return .array(values)
    }

    /// Splits at the commas that are not inside brackets.
    private static func pairs(_ text: Substring) -> [Substring] {
        var (pairs, depth, start) = ([Substring](), 0, text.startIndex)
        for index in text.indices {
            switch text[index] {
            case "[", "{": depth += 1
            case "]", "}": depth -= 1
            case "," where depth == 0:
                pairs.append(text[start..<index])
                start = text.index(after: index)
            default: break
            }
        }
        if start < text.endIndex { pairs.append(text[start...]) }
        return pairs
    }
}

extension JSONValue {
    fileprivate var fields: [String: JSONValue] {
        if case .object(let fields) = self { fields } else { [:] }
    }
}
