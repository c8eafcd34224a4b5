/// An `s3://` URL split into its parts, which are not validated yet.
struct BlobURLParser {
    /// The most bytes of a whole URL.
    static let bytesMax = 4_096

    private let bucket: Substring
    private let path: Substring
    private let query: Substring

    init(_ text: String) throws(BlobError) {
        guard text.utf8.count <= Self.bytesMax else {
            throw BlobError(
                .invalidURL,
                "The store's URL has \(text.utf8.count) bytes; expected at most \(Self.bytesMax).")
        }
        guard text.hasPrefix("s3://") else {
            let scheme = text.firstRange(of: "://").map { text[..<$0.lowerBound] } ?? ""
            throw Self.invalid("the scheme", scheme, expected: "s3, as in s3://bucket/prefix")
        }
        let rest = text.dropFirst("s3://".count)
        let mark = rest.firstIndex(of: "?") ?? rest.endIndex
        let location = rest[..<mark]
        query = rest[mark...].dropFirst()
        let slash = location.firstIndex(of: "/") ?? location.endIndex
        bucket = location[..<slash]
        path = location[slash...].dropFirst()
        guard !bucket.contains("@") else {
            throw BlobError(
                .invalidURL,
                "The store's URL has an \"@\" before its first \"/\": leave the login out of it. "
                    + "Credentials come from settings, the environment or the machine.")
        }
    }

    /// Returns the bucket's name. Source of the rules: Amazon S3 user guide, "Bucket naming
    /// rules".
    func bucketName() throws(BlobError) -> String {
        let isPlain = bucket.utf8.allSatisfy { byte in
            Self.isLetterOrDigit(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
        }
        guard let first = bucket.utf8.first, let last = bucket.utf8.last, isPlain,
            (3...63).contains(bucket.utf8.count), Self.isLetterOrDigit(first),
            Self.isLetterOrDigit(last), !bucket.contains("..")
        else {
            throw Self.invalid(
                "the bucket", bucket,
                expected: "3 to 63 small letters, digits, \"-\" and \".\", with a letter or digit "
                    + "at both ends")
        }
        return String(bucket)
    }

    func prefix() throws(BlobError) -> String {
        guard !path.contains("#") else {
            throw Self.invalid("the prefix", path, expected: "\"#\" written as %23")
        }
        guard let decoded = PercentCoding.decoded(path) else {
            throw Self.invalid(
                "the prefix", path, expected: "UTF-8, with \"%\" itself written as %25")
        }
        let prefix = decoded.hasSuffix("/") ? String(decoded.dropLast()) : decoded
        guard !prefix.isEmpty else { return "" }
        do {
            return try BlobKey(prefix).text
        } catch {
            throw BlobError(
                .invalidURL, "The prefix in the store's URL is no key. \(error.message)")
        }
    }

    typealias Settings = (endpoint: BlobURL.Endpoint?, region: String?, style: BlobURL.Style?)

    func settings() throws(BlobError) -> Settings {
        var settings: Settings = (nil, nil, nil)
        var seen: Set<Substring> = []
        for pair in query.split(separator: "&") {
            let name = pair.prefix { $0 != "=" }
            guard seen.insert(name).inserted else {
                throw Self.invalid("the setting", name, expected: "each of them once")
            }
            let raw = pair.dropFirst(name.count + 1)
            guard let value = PercentCoding.decoded(raw), !value.isEmpty else {
                throw BlobError(
                    .invalidURL,
                    "In the store's URL \(name) has no value: write \(name)=value or leave it out.")
            }
            switch name {
            case "endpoint": settings.endpoint = try Self.endpoint(value[...])
            case "region": settings.region = try Self.region(value[...])
            case "style":
                guard let style = BlobURL.Style(rawValue: value) else {
                    throw Self.invalid("style", value[...], expected: "path or virtual")
                }
                settings.style = style
            default:
                throw Self.invalid("a setting", name, expected: "endpoint, region or style")
            }
        }
        return settings
    }

    private static func region(_ text: Substring) throws(BlobError) -> String {
        let isPlain = text.utf8.allSatisfy { isLetterOrDigit($0) || $0 == UInt8(ascii: "-") }
        guard isPlain, text.utf8.count <= 64 else {
            throw invalid("the region", text, expected: "a name such as eu-central-1")
        }
        return String(text)
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte
            || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
    }

    static func invalid(_ part: String, _ value: Substring, expected: String) -> BlobError {
        BlobError(
            .invalidURL,
            "In the store's URL \(part) is \"\(value.prefix(80))\"; expected \(expected).")
    }
}
