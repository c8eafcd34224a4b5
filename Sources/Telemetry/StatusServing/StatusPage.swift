import FoundationEssentials
import NIOHTTP1

/// A page of the status port.
public struct StatusPage: Sendable {
    /// The path of its URL: `/metrics`.
    public let path: String
    /// Returns its present content.
    public let answer: @Sendable () async -> StatusAnswer

    /// Creates a page.
    public init(_ path: String, answer: @escaping @Sendable () async -> StatusAnswer) {
        self.path = path
        self.answer = answer
    }
}

/// A response of the status port.
public struct StatusAnswer: Sendable {
    let status: HTTPResponseStatus
    let mediaType: String
    let body: String
    /// The headers in addition to those of every response.
    var headers: [(String, String)] = []

    /// Creates a response with the status 200.
    public init(_ mediaType: String, _ body: String) {
        self.init(.ok, mediaType, body)
    }

    init(_ status: HTTPResponseStatus, _ mediaType: String, _ body: String) {
        self.status = status
        self.mediaType = mediaType
        self.body = body
    }

    /// Returns a response with a sentence, for an invalid request.
    static func sentence(_ status: HTTPResponseStatus, _ text: String) -> StatusAnswer {
        StatusAnswer(status, "text/plain; charset=utf-8", text + "\n")
    }

    /// Creates a response with the problems as JSON: status 200 if there are none, otherwise 503.
    public init(_ report: HealthReport) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            let json = String(decoding: try encoder.encode(report), as: UTF8.self)
            self.init(
                report.ok ? .ok : .serviceUnavailable, "application/json", json + "\n")
        } catch {
            preconditionFailure("text and finite numbers always encode to JSON: \(error)")
        }
    }
}
