public import FoundationEssentials

/// The output of `NSKeyedArchiver` for the plain values that photo editors put into adjustment data.
///
/// A keyed archive is a property list: `$objects` is a table of objects that refer to each other by index, and `$top` refers to the
/// root. Foundation's `NSKeyedUnarchiver` cannot be used on untrusted bytes: it kills the process for a root of another class, for
/// bytes that are no archive, and for an array that contains itself. No class is instantiated here: known names stand for text,
/// data, arrays and dictionaries.
public enum KeyedArchive {
    static let version = 100_000
    static let archiver = "NSKeyedArchiver"

    /// Reads the root object of an archive, binary or XML: text, numbers, booleans, data, and arrays and dictionaries of them.
    ///
    /// - Throws: an error if the bytes are no archive, or contain another class.
    public static func root(of bytes: Data) throws(PropertyListError) -> PropertyList {
        var reader = try KeyedArchiveReader(try PropertyList(bytes: bytes))
        return try reader.root()
    }

    /// Archives a text like `NSKeyedArchiver.archivedData(withRootObject:)`, with keys in another order.
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
