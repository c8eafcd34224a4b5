import HTTPTypes

extension HTTPField.Name {
    private static func known(_ text: String) -> Self {
        guard let name = Self(text) else { preconditionFailure("\(text) is a field's name") }
        return name
    }

    static let idempotencyKey = known("Idempotency-Key")
    static let prefer = known("Prefer")
    static let preferenceApplied = known("Preference-Applied")
    static let lastEventID = known("Last-Event-ID")
    static let secFetchSite = known("Sec-Fetch-Site")
    static let secFetchMode = known("Sec-Fetch-Mode")
    static let traceparent = known("traceparent")
    static let contentDigest = known("Content-Digest")
    static let referrerPolicy = known("Referrer-Policy")
    static let crossOriginOpenerPolicy = known("Cross-Origin-Opener-Policy")
}

extension Substring {
    /// The text without spaces and tabs at both ends.
    var trimmingSpaces: Substring {
        var text = self
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return text.drop { $0 == " " || $0 == "\t" }
    }
}
