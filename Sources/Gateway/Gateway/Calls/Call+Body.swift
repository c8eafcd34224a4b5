import Edits
import HTTPTypes
import Hummingbird
import NIOCore

extension Call {
    /// Reads the whole body as text, if its type is JSON.
    ///
    /// - Throws: `bodyTooLarge`, `badBody`.
    func text(atMost most: Int) async throws -> String {
        try checkIsJSON()
        let bytes = try await BodyReading.json(of: request, atMost: most)
        guard let text = String(validating: bytes.readableBytesView, as: UTF8.self) else {
            throw Problem(.badBody, "The body is not UTF-8.")
        }
        return text
    }

    /// Reads the whole body as a JSON document.
    ///
    /// - Parameter most: the most bytes that it may have.
    /// - Throws: `bodyTooLarge`, `badBody`; `malformedJSON`.
    func json(atMost most: Int? = nil) async throws -> JSONValue {
        try JSONValue(
            parsing: try await text(atMost: most ?? parts.settings.bodyBytesMax), as: "the body")
    }

    /// Reads the body as ``json(atMost:)`` does; returns nil if there is no body.
    func optionalJSON() async throws -> JSONValue? {
        let bytes = try await BodyReading.json(of: request, atMost: parts.settings.bodyBytesMax)
        guard bytes.readableBytes > 0 else { return nil }
        try checkIsJSON()
        guard let text = String(validating: bytes.readableBytesView, as: UTF8.self) else {
            throw Problem(.badBody, "The body is not UTF-8.")
        }
        return try JSONValue(parsing: text, as: "the body")
    }

    private func checkIsJSON() throws(Problem) {
        let type = header(.contentType)?.split(separator: ";").first.map {
            $0.trimmingSpaces.lowercased()
        }
        guard type == nil || type == "application/json" else {
            throw Problem(
                .badBody,
                "The body's type is \((type ?? "").debugDescription); expected application/json."
            )
        }
    }
}

extension Substring {
    /// The text without spaces and tabs at both ends.
    var trimmingSpaces: Substring {
        var text = self
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return text.drop { $0 == " " || $0 == "\t" }
    }
}
