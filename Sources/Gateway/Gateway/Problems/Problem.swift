import AccessKeys
package import Edits
import HTTPTypes
import Hummingbird
import JobQueue
import Library
import NIOCore
import NIOHTTP1
import Operations
import Webhooks

/// The reason for which a call failed, as RFC 9457 defines it: a code for programs, a sentence for people.
package struct Problem: Error, Sendable {
    let status: HTTPResponse.Status
    /// The code, from ``ProblemCode`` or `FailureCode`.
    package let code: String
    let title: String
    /// A sentence with the failure, the value, the expected value, and a remedy.
    package let detail: String
    /// The faulty place in the body, as a JSON pointer in a URI fragment (RFC 6901 §6).
    var pointer: String?
    /// Further facts of some codes, by field name.
    var facts: [String: JSONValue] = [:]
    var headers = HTTPFields()

    static let contentType = "application/problem+json"

    init(
        _ code: ProblemCode, _ detail: String, facts: [String: JSONValue] = [:],
        retryAfter seconds: Int? = nil
    ) {
        status = code.status
        self.code = code.rawValue
        title = code.title
        self.detail = detail
        self.facts = facts
        if let seconds { headers[.retryAfter] = "\(max(1, seconds))" }
    }

    /// Creates a problem from a fault of a job, an edit or a photo.
    init(_ failure: Failure, status: HTTPResponse.Status, pointer: String? = nil) {
        self.status = status
        code = failure.code.rawValue
        title = status.reasonPhrase
        detail = failure.message
        self.pointer = pointer
    }

    package var json: JSONValue {
        var fields = facts
        fields["type"] = .string("/problems/\(code)")
        fields["title"] = .string(title)
        fields["status"] = .number(Double(status.code))
        fields["code"] = .string(code)
        fields["detail"] = .string(detail.printable)
        if let pointer { fields["pointer"] = .string(pointer) }
        return .object(fields)
    }

    var response: Response {
        var headers = headers
        headers[.contentType] = Self.contentType
        headers[.cacheControl] = "no-store"
        if status == .unauthorized { headers[.wwwAuthenticate] = "Bearer" }
        return Response(
            status: status, headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(string: json.canonical)))
    }
}

extension Problem {
    /// The problem of a tenant whose jobs and batches take too many bytes of Redis.
    static func storedFull(_ stored: Int, _ most: Int) -> Problem {
        Problem(
            .storedFull,
            "The jobs and batches of this tenant take \(stored) bytes of the queue's memory, and \(most) are allowed. Send it "
                + "again when some have ended; jobs that failed count until they are replayed or dropped.",
            facts: ["stored": .number(Double(stored)), "max": .number(Double(most))],
            retryAfter: 10)
    }
}

extension Problem {
    /// The problem of a rendition without a whole file.
    ///
    /// - Parameter what: what became of it, as the rest of a sentence.
    static func missingRendition(
        _ name: String, of version: VersionName, _ asset: AssetPath, _ what: String
    ) -> Problem {
        Problem(
            .missingRendition,
            "The rendition \(name) of version \(version) of \(asset.string.debugDescription) \(what). Have it made again by a job "
                + "with the edit {\"mode\":\"renditions\",\"version\":\"\(version)\",\"remake\":true}."
        )
    }
}

extension Problem {
    /// Creates a problem from a fault of a received body, with the place in it.
    ///
    /// - Parameter roots: first words of an error's path that mean the body itself.
    init(_ failure: Failure, in text: String, roots: [String]) {
        self.init(failure)
        // A body that is not JSON has no places.
        guard failure.code != .malformedJSON,
            let document = try? JSONValue(parsing: text, as: "the body")
        else { return }
        pointer = JSONPointer.fragment(beginning: failure.message, in: document, roots: roots)
    }

    /// Seconds after which a client should retry if Redis or the library did not answer.
    static let retrySeconds = 2

    /// Creates the problem for an error of any part. It contains only text that the caller may see.
    init(_ error: any Error) {
        self =
            switch error {
            case let problem as Problem: problem
            case let failure as Failure: Problem(failure)
            case let error as QueueError: Problem(error)
            case let error as KeyError: Problem(error)
            case let error as WebhookError: Problem(error)
            case let error as OIDCError: Problem(error)
            case let refusal as BodyRefusal: Problem(refusal)
            case is HTTPParserError:
                Problem(
                    .badBody,
                    "The body is not framed as HTTP/1.1 wants it; its connection is closed.")
            default:
                // The text may contain paths and hosts, so it goes to the log only.
                Problem(
                    .internalError,
                    "The gateway failed to answer. The fault was logged; the same call may succeed later."
                )
            }
    }

    private init(_ failure: Failure) {
        switch failure.code {
        case .missingAsset, .missingVersion, .missingDraft, .assetOutsideLibrary:
            self.init(failure, status: .notFound)
        case .storeUnavailable, .ioFailure:
            self.init(
                .libraryUnavailable,
                "The library does not answer, or is not at its place, as when its disk is not mounted. Ask again; its operator finds the reason in the log of the gateway.",
                retryAfter: Self.retrySeconds)
        case .noSpace:
            self.init(.noSpace, "The library has no space for it. Its operator must free some.")
        case .malformedJSON: self.init(failure, status: .badRequest)
        case .oversizedField: self.init(failure, status: .contentTooLarge)
        case .internalError:
            self.init(.internalError, "The gateway failed to answer. The fault was logged.")
        default: self.init(failure, status: .unprocessableContent)
        }
    }

    private init(_ error: QueueError) {
        switch error.code {
        case .redis where error.isRedisFull:
            self.init(
                .queueFull,
                "The queue admits no jobs, because Redis is full. Retry later; alerts have informed the operator.",
                retryAfter: 10)
        case .redis:
            self.init(
                .queueUnavailable, "The queue does not answer now; ask again.",
                retryAfter: Self.retrySeconds)
        case .ingressFull:
            self.init(
                .queueFull,
                "The queue accepts no jobs, because too many wait to be admitted. Retry later.",
                retryAfter: 10)
        case .ingressClosed:
            self.init(
                .queueFull,
                "The queue accepts no such job until those that wait are admitted, because a producer has sent the highest id that there is. Retry in a moment.",
                retryAfter: Self.retrySeconds)
        case .damagedRecord:
            self.init(
                .internalError,
                "What the queue has of this job is damaged. The fault was logged; send the job again under another id."
            )
        case .shareUsed:
            self.init(
                .queueFull,
                "The queue accepts no jobs, because the jobs of all tenants take as much memory as they may. Retry later.",
                retryAfter: 10)
        case .unsafeServer, .unexpectedReply, .tokenExpired, .unreadableEvent, .badPosition,
            .otherLibrary, .laterFormat:
            self.init(
                .internalError, "The queue answered something unexpected. The fault was logged.")
        }
    }

    private init(_ refusal: BodyRefusal) {
        switch refusal {
        case .oversized(let most):
            self.init(
                .bodyTooLarge,
                "The body has more than \(most) bytes, which is the most for this call.",
                facts: ["bytesMax": .number(Double(most))])
        case .broken:
            self.init(
                .badBody, "The body broke off: a chunk is malformed, or the connection has ended.")
        case .cutOff: self.init(.badBody, "The body ended before its Content-Length.")
        case .tooDeep(let most):
            self.init(
                .badBody,
                "The body has arrays and objects more than \(most) deep in each other.")
        }
    }

    private init(_ error: KeyError) {
        switch error.code {
        case .malformedKey: self.init(.malformedKey, error.message)
        case .unknownKey: self.init(.unknownKey, error.message)
        case .expiredKey: self.init(.expiredKey, error.message)
        case .revokedKey: self.init(.revokedKey, error.message)
        case .invalidTerms, .idTooLong:
            self.init(
                Failure(.invalidValue, error.message), status: .unprocessableContent)
        case .tooManyKeys: self.init(.conflict, error.message)
        case .keysUnavailable, .redis, .contended:
            self.init(
                .queueUnavailable, "Keys cannot be checked now; ask again.",
                retryAfter: Self.retrySeconds)
        case .laterFormat, .damagedKey:
            self.init(
                .internalError, "The record of this key cannot be read. The fault was logged.")
        }
    }
}

/// The place in a document that an error refers to.
///
/// Errors of the contract begin with the field's path, such as `edit.filters[0].inputIntensity`. The path becomes a
/// JSON pointer (RFC 6901) only if the received document has that place, or has the object that lacks the field.
enum JSONPointer {
    /// - Parameters:
    ///   - message: the error's message, which begins with the path.
    ///   - document: the received document.
    ///   - roots: first words of a path that mean the document itself, such as `job`.
    /// - Returns: the pointer as a URI fragment; nil if the message names no place in the document.
    static func fragment(
        beginning message: String, in document: JSONValue, roots: [String]
    ) -> String? {
        guard var steps = steps(message.prefix { $0 != " " }) else { return nil }
        if let first = steps.first, roots.contains(first) { steps.removeFirst() }
        var value = document
        for (index, step) in steps.enumerated() {
            switch value {
            case .object(let fields):
                if let next = fields[step] {
                    value = next
                } else if index < steps.count - 1 {
                    return nil
                }
            case .array(let values):
                guard let position = Int(step), values.indices.contains(position) else {
                    return nil
                }
                value = values[position]
            default: return nil
            }
        }
        return "#" + steps.map { "/" + escaped($0) }.joined()
    }

    /// Splits `edit.filters[0].name` into its steps; returns nil for any other text.
    private static func steps(_ path: Substring) -> [String]? {
        var steps: [String] = []
        for part in path.split(separator: ".", omittingEmptySubsequences: false) {
            let pieces = part.split(separator: "[", omittingEmptySubsequences: false)
            guard let name = pieces.first, !name.isEmpty,
                name.utf8.allSatisfy({ isIdentifierCharacter($0) })
            else { return nil }
            steps.append(String(name))
            for index in pieces.dropFirst() {
                guard index.last == "]", let number = Int(index.dropLast()) else { return nil }
                steps.append("\(number)")
            }
        }
        return steps.isEmpty ? nil : steps
    }

    private static func isIdentifierCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private static func escaped(_ step: String) -> String {
        step.replacing("~", with: "~0").replacing("/", with: "~1")
    }
}
