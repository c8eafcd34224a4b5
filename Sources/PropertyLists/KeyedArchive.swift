public import FoundationEssentials

/// What `NSKeyedArchiver` writes, for the plain values that photo editors put into adjustment data.
///
/// A keyed archive is a property list: `$objects` is a table of objects that refer to each other by number,
/// and `$top` says which is the outermost. Foundation's `NSKeyedUnarchiver` cannot be used on strangers' bytes:
/// it kills the process for a root of another class, for bytes that are no archive, and for an array that
/// contains itself. No class is ever made here: known names stand for text, data, arrays and dictionaries.
public enum KeyedArchive {
    static let version = 100_000
    static let archiver = "NSKeyedArchiver"

    /// Reads the root object of an archive, binary or XML: text, numbers, booleans, data, and arrays and
    /// dictionaries of them.
    ///
    /// - Throws: when the bytes are no archive, or something in it is of another class.
    public static func root(of bytes: Data) throws(PropertyListError) -> PropertyList {
        var reader = try KeyedArchiveReader(try PropertyList(bytes: bytes))
        return try reader.root()
    }

    /// Archives a text as `NSKeyedArchiver.archivedData(withRootObject:)` does, in another order of keys.
    public static func bytes(ofRoot text: String) -> Data {
        BinaryPropertyListWriter.bytes(
            of: .dictionary([
                "$archiver": .string(archiver),
                "$objects": .array([.string("$null"), .string(text)]),
                "$top": .dictionary(["root": .uid(1)]),
                "$version": .integer(version),
            ]))
    }
}
