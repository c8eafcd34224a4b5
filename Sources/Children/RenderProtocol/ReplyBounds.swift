import Edits

/// The permitted ranges of all values in a reply of a render child. A photo cannot cause a value outside them: the child is faulty
/// or compromised.
public enum ReplyBounds {
    /// The maximum length of a text, in characters.
    public static let textMax = 1000
    /// Returns a text that quotes a file or the kernel in the form permitted in a reply.
    static func text(_ text: String) -> String { String(text.printable.prefix(textMax)) }
    /// The maximum number of notes for people.
    public static let notesMax = 32
    /// The maximum number of lines that describe a plan.
    public static let planLinesMax = passesMax + notesMax + 10
    /// The sides of a picture in pixels: no supported format has more.
    static let sides = 1...Int(Int32.max)
    /// The channels of a picture.
    public static let bands = 1...64
    /// The bits of a sample.
    public static let bits = 1...64
    /// The bytes of memory and of spool files: no machine has more.
    static let bytes = 0...(1 << 50)
    /// The processor time in seconds: a year.
    static let seconds = 0.0...31_536_000.0
    /// The threads of a render.
    static let threads = 1...1024
    /// The maximum number of passes over a photo: two per filter.
    static let passesMax = 4096
    /// The columns and rows around a pixel that a filter reads.
    static let reach = 0...Int(Int32.max)
    /// The maximum number of confinement measures that are not in force.
    static let gapsMax = 64
    /// The maximum number of libraries that a child reports.
    static let librariesMax = 64
    /// The maximum number of parts of a movie: each is an open file of a request, of which a child may have 160.
    public static let segmentsMax = 100
    /// The maximum number of progress reports about the frames of a part.
    public static let frameReportsMax = 100
    /// The maximum number of progress lines before the final reply.
    public static let progressMax = PhotoRequest.outputsMax + frameReportsMax + 1
}

/// The error of a reply that violates the protocol: its child is no longer trusted.
public struct BrokenReply: Error, Equatable, CustomStringConvertible {
    /// The violated rule, for people.
    public let description: String

    /// Creates an error.
    public init(_ description: String) { self.description = description }
}
