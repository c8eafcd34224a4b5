import Adjustments

/// The ranges of all that a render child may answer. A value outside is a lie or a fault, never a photo's doing.
public enum ReplyBounds {
    /// Characters of a text.
    public static let textMax = 1000
    /// A text that quotes a file or the kernel, as it may be in a reply.
    static func text(_ text: String) -> String { String(text.printable.prefix(textMax)) }
    /// Notes for people.
    public static let notesMax = 32
    /// Lines that tell a plan.
    public static let wordsMax = passesMax + notesMax + 10
    /// Sides of a picture in pixels: more is in no format that we read.
    static let sides = 1...Int(Int32.max)
    /// Channels of a picture.
    public static let bands = 1...64
    /// Bits of a sample.
    public static let bits = 1...64
    /// Bytes of memory and of spool files: no machine has more.
    static let bytes = 0...(1 << 50)
    /// Processor time in seconds: a year.
    static let seconds = 0.0...31_536_000.0
    /// Threads of a render.
    static let threads = 1...1024
    /// Passes over a photo: two for each filter.
    static let passesMax = 4096
    /// Columns and rows around a pixel that a filter looks at.
    static let reach = 0...Int(Int32.max)
    /// Measures of confinement that are not in force.
    static let gapsMax = 64
    /// Libraries that a child names.
    static let librariesMax = 64
    /// Reasons that a child cannot know: they are about the queue, the library, or the child itself.
    static let foreignCodes: Set<FailureCode> = [
        .noSuchBatch, .deadlinePassed, .workerLost, .revisionConflict, .laterFormat,
        .damagedVersion,
        .missingVersion, .missingDraft, .staleDraft, .overtaken, .missingAsset,
        .assetOutsideLibrary,
        .renderCrashed, .renderTimedOut, .untrustedRender, .unconfined, .formatUnavailable,
    ]
    /// Parts of a movie: each is an open file of a request, of which a child may have 160.
    public static let segmentsMax = 100
    /// Times that the frames of a part that are done are told.
    public static let frameReportsMax = 100
    /// Lines of progress before the answer.
    public static let progressMax = PhotoRequest.outputsMax + frameReportsMax + 1
}

/// A reply that breaks a rule of the protocol: its child is not believed any more.
public struct BrokenReply: Error, Equatable, CustomStringConvertible {
    /// Which rule, for people.
    public let description: String

    /// Makes an error.
    public init(_ description: String) { self.description = description }
}
