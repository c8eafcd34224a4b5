import FoundationEssentials
import NIOHTTP1

/// A page of the status port.
public struct StatusPage: Sendable {
    /// What it is asked by: `/metrics`.
    public let path: String
    /// What it says at this moment.
    public let answer: @Sendable () async -> StatusAnswer

    /// A page.
    public init(_ path: String, answer: @escaping @Sendable () async -> StatusAnswer) {
        self.path = path
        self.answer = answer
    }
}

/// What the status port answers.
public struct StatusAnswer: Sendable {
    let status: HTTPResponseStatus
    let mediaType: String
    let body: String
    /// Headers beside those that every answer has.
    var headers: [(String, String)] = []

    /// What was asked for.
    public init(_ mediaType: String, _ body: String) {
        self.init(.ok, mediaType, body)
    }

    init(_ status: HTTPResponseStatus, _ mediaType: String, _ body: String) {
        self.status = status
        self.mediaType = mediaType
        self.body = body
    }

    /// A sentence for who asked wrongly.
    static func sentence(_ status: HTTPResponseStatus, _ text: String) -> StatusAnswer {
        StatusAnswer(status, "text/plain; charset=utf-8", text + "\n")
    }

    /// 200 when all is well, else 503; what is wrong as JSON.
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
