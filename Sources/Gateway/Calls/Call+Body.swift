import Adjustments
import HTTPTypes
import Hummingbird
import NIOCore

extension Call {
    /// The whole body as a JSON document.
    ///
    /// - Parameter most: bytes that it may have.
    /// - Throws: `bodyTooLarge`, `badBody`; `malformedJSON`.
    func json(atMost most: Int? = nil) async throws -> JSONValue {
        try checkIsJSON()
        let bytes = try await bytes(atMost: most ?? parts.settings.bodyBytesMax)
        guard let text = String(validating: bytes.readableBytesView, as: UTF8.self) else {
            throw Problem(.badBody, "The body is not UTF-8.")
        }
        return try JSONValue(parsing: text, as: "the body")
    }

    /// The same, or nil when there is no body.
    func optionalJSON() async throws -> JSONValue? {
        let bytes = try await bytes(atMost: parts.settings.bodyBytesMax)
        guard bytes.readableBytes > 0 else { return nil }
        try checkIsJSON()
        guard let text = String(validating: bytes.readableBytesView, as: UTF8.self) else {
            throw Problem(.badBody, "The body is not UTF-8.")
        }
        return try JSONValue(parsing: text, as: "the body")
    }

    /// The whole body.
    func bytes(atMost most: Int) async throws -> ByteBuffer {
        if let length = header(.contentLength).flatMap({ Int($0) }), length > most {
            throw tooLarge(most)
        }
        var whole = ByteBuffer()
        for try await part in request.body {
            guard whole.readableBytes + part.readableBytes <= most else { throw tooLarge(most) }
            whole.writeImmutableBuffer(part)
        }
        return whole
    }

    private func tooLarge(_ most: Int) -> Problem {
        Problem(
            .bodyTooLarge, "The body has more than \(most) bytes, which is the most for this call.",
            facts: ["bytesMax": .number(Double(most))])
    }

    private func checkIsJSON() throws(Problem) {
        let type = header(.contentType)?.split(separator: ";").first.map {
            $0.trimmingSpaces.lowercased()
        }
        guard type == nil || type == "application/json" else {
            throw Problem(
                .badBody,
                "The body is said to be \((type ?? "").debugDescription); expected application/json."
            )
        }
    }
}

extension Substring {
    /// Without blanks and tabs at both ends.
    var trimmingSpaces: Substring {
        var text = self
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return text.drop { $0 == " " || $0 == "\t" }
    }
}
