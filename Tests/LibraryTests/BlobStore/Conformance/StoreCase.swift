import MinilabTesting
import Testing

@testable import BlobStore

/// Something that a store has to do: steps at a prefix of its own, and what is seen after each.
struct StoreCase: Sendable, CustomTestStringConvertible {
    /// A sentence.
    let name: String
    let steps: [Step]

    init(_ name: String, _ steps: [Step]) {
        (self.name, self.steps) = (name, steps)
    }

    var testDescription: String { name }

    /// An action, and what is to be seen of it.
    struct Step: Sendable {
        let action: Action
        private let expected: Seen
        /// Servers that are known to differ, with their own way.
        private let known: [StoreServer: Seen]

        init(_ action: Action, _ expected: Seen, but known: [StoreServer: Seen] = [:]) {
            (self.action, self.expected, self.known) = (action, expected, known)
        }

        func expected(on server: StoreServer) -> Seen { known[server] ?? expected }
    }

    /// One call of the client, or one request that it would not send.
    enum Action: Sendable {
        /// Writes a text; its tag may be remembered by a name.
        case put(String, String, if: Condition = .always, as: String = "")
        /// Writes so many MiB, in parts of 5 MiB if there are more, and reads them again.
        case large(String, mebibytes: Int)
        /// Writes a text with the digest of another.
        case harmed(String, String)
        /// Lets so many write at one time on one condition.
        case race(String, Int, if: Condition)
        case get(String, Range<Int>? = nil, tag: String? = nil)
        case head(String)
        case list(String = "", after: String? = nil)
        case copy(String, to: String, tag: String)
        case remove([String])
        /// Does another action with other keys, or with a clock that is off by so many seconds.
        indirect case by(StoreKeys, clock: Int = 0, bucket: String? = nil, Action)
        /// Reads a signed URL that was changed.
        case link(String, Link)
        case raw(RawRequest)
    }

    /// The condition of a write, on a tag that was remembered.
    enum Condition: Sendable {
        case always, absent
        case tag(String)
    }

    /// The view from outside.
    enum Seen: Sendable, Hashable {
        case done
        case text(String)
        case keys([String])
        case size(Int)
        case failed(BlobErrorCode)
        /// So many of a race wrote, and all others received a refusal.
        case won(Int)
        /// The status of an answer without an error's document, and the headers that were asked for.
        case answer(Int, [String] = [])
        /// The status and the code of an error's document.
        case refusal(Int, String)
    }

    /// How a signed URL is used.
    struct Link: Sendable {
        var method = "GET"
        /// How long it holds, in seconds.
        var seconds = 60
        /// How long ago it was made, in seconds.
        var age = 0
        /// Text of the URL, and what it is replaced by after signing.
        var change: (from: String, to: String) = ("", "")
    }
}
