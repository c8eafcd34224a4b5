public import FoundationEssentials

/// Follows the references of one keyed archive, and counts each.
struct KeyedArchiveReader {
    private let objects: [PropertyList]
    private let top: PropertyList
    private var budget = Budget()

    init(_ archive: PropertyList) throws(PropertyListError) {
        guard case .dictionary(let fields) = archive,
            fields["$archiver"] == .string(KeyedArchive.archiver)
        else {
            throw PropertyListError("it is no keyed archive: $archiver is not NSKeyedArchiver.")
        }
        guard fields["$version"] == .integer(KeyedArchive.version) else {
            throw PropertyListError("$version of the keyed archive is not \(KeyedArchive.version).")
        }
        guard case .array(let objects) = fields["$objects"] else {
            throw PropertyListError("$objects of the keyed archive is missing or no array.")
        }
        // Old archives without a name for the root call it $0.
        guard case .dictionary(let tops) = fields["$top"], let top = tops["root"] ?? tops["$0"]
        else {
            throw PropertyListError("$top of the keyed archive names neither root nor $0.")
        }
        self.objects = objects
        self.top = top
    }

    mutating func root() throws(PropertyListError) -> PropertyList { try value(top, depth: 0) }

    private mutating func value(
        _ element: PropertyList, depth: Int
    ) throws(PropertyListError) -> PropertyList {
        try budget.enter(depth: depth)
        let object = try referenced(element)
        switch object {
        case .string("$null"): throw PropertyListError("the keyed archive has a nil in it.")
        case .string(let text): try budget.spend(text)
        case .data(let data): try budget.spend(bytes: data.count)
        case .integer, .real, .boolean: break
        case .dictionary(let fields): return try instance(fields, depth: depth)
        case .array, .date, .uid:
            throw PropertyListError(
                "the keyed archive has \(object.kind) where an object should be.")
        }
        return object
    }

    /// Reads an object that is stored as the fields of its class.
    private mutating func instance(
        _ fields: [String: PropertyList], depth: Int
    ) throws(PropertyListError) -> PropertyList {
        let name = try className(fields)
        switch name {
        case "NSString", "NSMutableString":
            guard case .string(let text) = try field("NS.string", of: fields) else {
                throw PropertyListError("NS.string of an \(name) is missing or no text.")
            }
            try budget.spend(text)
            return .string(text)
        case "NSData", "NSMutableData":
            guard case .data(let data) = try field("NS.data", of: fields) else {
                throw PropertyListError("NS.data of an \(name) is missing or no data.")
            }
            try budget.spend(bytes: data.count)
            return .data(data)
        case "NSArray", "NSMutableArray":
            return .array(try values(fields["NS.objects"], "NS.objects of an \(name)", depth))
        case "NSDictionary", "NSMutableDictionary":
            let keys = try values(fields["NS.keys"], "NS.keys of an \(name)", depth)
            let values = try values(fields["NS.objects"], "NS.objects of an \(name)", depth)
            guard keys.count == values.count else {
                throw PropertyListError(
                    "an \(name) has \(keys.count) keys and \(values.count) values.")
            }
            var pairs: [String: PropertyList] = [:]
            for (key, value) in zip(keys, values) {
                guard case .string(let key) = key else {
                    throw PropertyListError("a key of an \(name) is \(key.kind); expected text.")
                }
                try pairs.add(value, for: key)
            }
            return .dictionary(pairs)
        default:
            throw PropertyListError(
                "the keyed archive has an object of the class \(name.excerpt); "
                    + "read are text, numbers, booleans, data, arrays and dictionaries.")
        }
    }

    private func className(_ fields: [String: PropertyList]) throws(PropertyListError) -> String {
        guard let reference = fields["$class"],
            case .dictionary(let description) = try referenced(reference),
            case .string(let name) = description["$classname"]
        else { throw PropertyListError("an object of the keyed archive has no class.") }
        return name
    }

    /// Reads a field that is stored inline, or as a reference.
    private func field(
        _ name: String, of fields: [String: PropertyList]
    ) throws(PropertyListError) -> PropertyList? {
        guard let element = fields[name] else { return nil }
        return Self.index(element) == nil ? element : try referenced(element)
    }

    private mutating func values(
        _ list: PropertyList?, _ what: String, _ depth: Int
    ) throws(PropertyListError) -> [PropertyList] {
        guard case .array(let elements) = list else {
            throw PropertyListError("\(what) is missing or no array.")
        }
        var values: [PropertyList] = []
        for element in elements { values.append(try value(element, depth: depth + 1)) }
        return values
    }

    private func referenced(_ element: PropertyList) throws(PropertyListError) -> PropertyList {
        guard let index = Self.index(element) else {
            throw PropertyListError(
                "the keyed archive has \(element.kind) where a reference should be.")
        }
        guard objects.indices.contains(index) else {
            throw PropertyListError(
                "the keyed archive refers to object \(index); it has \(objects.count), counted from 0."
            )
        }
        return objects[index]
    }

    /// Returns the index in a reference. In XML, a reference is a dictionary with one key.
    private static func index(_ element: PropertyList) -> Int? {
        switch element {
        case .uid(let index): index
        case .dictionary(let fields):
            if fields.count == 1, case .integer(let index) = fields["CF$UID"] { index } else { nil }
        default: nil
        }
    }
}

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
