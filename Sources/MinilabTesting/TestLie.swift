public import Foundation
import Glibc

/// One thing that a lying render child answers or writes; it is told to `minilab-hostile-child` by its environment.
///
/// Everything else it does as an honest child does, so that the lie alone decides what becomes of a job.
public enum TestLie: Sendable, Codable, Equatable {
    /// A reply.
    public enum Reply: String, Sendable, Codable {
        case inspected, progress, rendered
    }

    /// What a child does instead of answering a render, or besides.
    public enum Deed: String, Sendable, Codable {
        /// Exits with code 0.
        case exit
        /// Closes its output and lives on.
        case closeOutput
        /// Never answers.
        case wait
        /// Answers once more.
        case answerTwice
        /// Tells an output again and again.
        case manyProgress
        /// Tells no output.
        case noProgress
        /// Writes a line without end.
        case endlessLine
        /// Writes a line of spaces that is longer than any may be.
        case longLine
        /// Answers a failure of ten million characters.
        case longSentence
        /// Answers arrays in arrays in arrays.
        case nestedLine
        /// Writes into the place of the result after its answer, for as long as it lives.
        case writeOn
        /// Lives on when its worker wants no more of it.
        case ignoreEnd
    }

    /// The value at a path of a reply is this JSON; keys and places are joined by dots.
    case value(Reply, at: String, is: String)
    /// The answer to a render is these bytes and a newline.
    case line(Data)
    /// The result is these bytes.
    case result(Data)
    /// The result is so long, with nothing at its end.
    case length(Int)
    /// The placeholder is these bytes.
    case placeholder(Data)
    /// Something else.
    case deed(Deed)

    /// The environment variable that tells a lie, as JSON in Base64.
    public static let variable = "MINILAB_TEST_LIE"

    /// The lie that the environment tells.
    ///
    /// - Throws: when it cannot be read.
    public static func armed() throws -> TestLie? {
        guard let text = getenv(variable).map({ String(cString: $0) }) else { return nil }
        guard let json = Data(base64Encoded: text) else {
            throw TestingFailure("\(variable) is no Base64")
        }
        return try JSONDecoder().decode(TestLie.self, from: json)
    }

    /// How the environment tells it.
    ///
    /// - Throws: when it cannot be written.
    public func environment() throws -> String {
        "\(Self.variable)=\(try JSONEncoder().encode(self).base64EncodedString())"
    }
}
