public import Foundation
import Glibc

/// A false answer or output of a render child. The environment passes it to `minilab-hostile-child`.
///
/// All other behaviour is that of a normal child, so that only the lie affects the job.
public enum TestLie: Sendable, Codable, Equatable {
    /// The replies of a child.
    public enum Reply: String, Sendable, Codable {
        case inspected, progress, rendered
    }

    /// Misbehaviour of a child instead of the reply to a render, or beside it.
    public enum Misbehaviour: String, Sendable, Codable {
        /// Exits with code 0.
        case exit
        /// Closes its output and keeps running.
        case closeOutput
        /// Never replies.
        case wait
        /// Replies twice.
        case answerTwice
        /// Repeats the progress reply for one output beyond the allowed number.
        case manyProgress
        /// Sends no progress replies.
        case noProgress
        /// Writes a line without end.
        case endlessLine
        /// Writes a line of spaces that exceeds the limit.
        case longLine
        /// Replies with a failure whose message has ten million characters.
        case longSentence
        /// Replies with deeply nested arrays.
        case nestedLine
        /// Keeps writing to the result file after its reply, until it exits.
        case writeOn
        /// Keeps running after its worker has closed the connection.
        case ignoreEnd
    }

    /// The value at a path of a reply is this JSON. The path consists of keys and indices, joined by dots.
    case value(Reply, at: String, is: String)
    /// The reply to a render is these bytes and a newline.
    case line(Data)
    /// The result file has these bytes.
    case result(Data)
    /// The result file has this length, with a hole at its end.
    case length(Int)
    /// The placeholder has these bytes.
    case placeholder(Data)
    /// Another misbehaviour.
    case misbehaviour(Misbehaviour)

    /// The environment variable with a lie, as JSON in Base64.
    public static let variable = "MINILAB_TEST_LIE"

    /// Returns the lie in the environment.
    ///
    /// - Throws: if it cannot be decoded.
    public static func armed() throws -> TestLie? {
        guard let text = getenv(variable).map({ String(cString: $0) }) else { return nil }
        guard let json = Data(base64Encoded: text) else {
            throw TestingFailure("\(variable) is no Base64")
        }
        return try JSONDecoder().decode(TestLie.self, from: json)
    }

    /// Returns the environment variable that sets this lie.
    ///
    /// - Throws: if it cannot be encoded.
    public func environment() throws -> String {
        "\(Self.variable)=\(try JSONEncoder().encode(self).base64EncodedString())"
    }
}
