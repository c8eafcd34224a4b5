/// The files that a render child can reach besides the system's: folders with all that is below, or single
/// files.
///
/// Given to the child when it starts, as arguments, so that `ps` shows them: it serves many photos, and what is
/// given up once is given up for its life.
public struct ReachableFiles: Sendable, Equatable {
    /// Absolute paths of what it may read.
    public var readable: [String]
    /// Absolute paths of folders in which it may also make, write and remove files.
    public var writable: [String]

    /// Makes a record.
    public init(readable: [String], writable: [String]) {
        self.readable = readable
        self.writable = writable
    }

    private static let readFlag = "--read"
    private static let writeFlag = "--write"

    /// How it is told to a child.
    public var arguments: [String] {
        readable.flatMap { [Self.readFlag, $0] } + writable.flatMap { [Self.writeFlag, $0] }
    }

    /// What a child was told; nil when nothing was, as when it is started by hand.
    ///
    /// - Parameter arguments: without the program's name.
    /// - Throws: ``BadArgument``.
    public init?(arguments: [String]) throws(BadArgument) {
        if arguments.isEmpty { return nil }
        self.init(readable: [], writable: [])
        var rest = arguments[...]
        while let flag = rest.popFirst() {
            guard let path = rest.popFirst(), path.hasPrefix("/") else {
                throw BadArgument(text: flag)
            }
            switch flag {
            case Self.readFlag: readable.append(path)
            case Self.writeFlag: writable.append(path)
            default: throw BadArgument(text: flag)
            }
        }
    }

    /// An argument that is neither `--read PATH` nor `--write PATH` with an absolute path.
    public struct BadArgument: Error, Equatable {
        /// The flag that was given.
        public let text: String

        /// Makes an error.
        public init(text: String) { self.text = text }
    }
}
