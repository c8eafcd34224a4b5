public import SystemPackage

/// Whether and where a process sends its spans.
public struct TraceSettings: Sendable {
    /// The URL that requests go to, with `/v1/traces`; nil: none do.
    public var endpoint: String?
    /// The file that gets a line of JSON for each request; nil: there is none.
    public var file: FilePath?
    /// The share of the traces that begin here that is recorded, 0 to 1.
    public var share = 1.0

    public init() {}

    /// Whether anything is recorded at all.
    public var isOn: Bool { endpoint != nil || file != nil }

    /// The URL that requests go to.
    ///
    /// - Returns: nil when it is no URL of HTTP, or has a login, a query or a fragment.
    public static func url(_ text: String) -> String? {
        let host = /https?:\/\/([A-Za-z0-9.\-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?/
        let path = /(\/[A-Za-z0-9._~\/\-]*)?/
        guard text.utf8.count <= 1024, let match = text.prefixMatch(of: host),
            text[match.range.upperBound...].wholeMatch(of: path) != nil
        else { return nil }
        return text
    }

    /// The same of a collector's base, such as `http://127.0.0.1:4318`, which the path of traces follows.
    public static func url(ofBase text: String) -> String? {
        url(text).map { url in
            let base = url.hasSuffix("/") ? String(url.dropLast()) : url
            return base.hasSuffix("/v1/traces") ? base : base + "/v1/traces"
        }
    }
}
