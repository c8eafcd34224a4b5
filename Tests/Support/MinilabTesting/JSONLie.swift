public import Foundation

/// A change of a value in a JSON text to any other, even to a number that overflows every reader.
public struct JSONLie: Sendable {
    private let path: [String]
    private let value: String
    private static let mark = "@lie@"

    /// - Parameters:
    ///   - path: keys and indices, joined by dots.
    ///   - value: the new value: JSON, or an invalid imitation of it.
    public init(_ path: String, _ value: String) {
        self.path = path.split(separator: ".").map(String.init)
        self.value = value
    }

    /// Returns the text with the value replaced.
    ///
    /// - Throws: if the text is not JSON.
    public func applied(in json: Data) throws -> Data {
        let object = try JSONSerialization.jsonObject(with: json)
        let marked = try JSONSerialization.data(
            withJSONObject: Self.set(Self.mark, at: path[...], in: object),
            options: [.sortedKeys, .withoutEscapingSlashes])
        return Data(
            String(decoding: marked, as: UTF8.self)
                .replacingOccurrences(of: "\"\(Self.mark)\"", with: value).utf8)
    }

    /// Returns the paths of all numbers.
    ///
    /// - Throws: if the text is not JSON.
    public static func numbers(in json: Data) throws -> [String] {
        numbers(in: try JSONSerialization.jsonObject(with: json), [])
    }

    private static func numbers(in value: Any, _ path: [String]) -> [String] {
        switch value {
        case let object as [String: Any]:
            object.sorted { $0.key < $1.key }.flatMap { numbers(in: $0.value, path + [$0.key]) }
        case let array as [Any]:
            array.enumerated().flatMap { numbers(in: $0.element, path + ["\($0.offset)"]) }
        case let number as NSNumber where !(number is Bool): [path.joined(separator: ".")]
        default: []
        }
    }

    private static func set(_ mark: String, at path: ArraySlice<String>, in value: Any) -> Any {
        guard let key = path.first else { return mark }
        if var object = value as? [String: Any] {
            object[key] = set(mark, at: path.dropFirst(), in: object[key] ?? [:])
            return object
        }
        if var array = value as? [Any], let index = Int(key), array.indices.contains(index) {
            array[index] = set(mark, at: path.dropFirst(), in: array[index])
            return array
        }
        return [key: set(mark, at: path.dropFirst(), in: [String: Any]())]
    }
}
