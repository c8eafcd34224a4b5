extension Recipe {
    /// The digests (`"sha256:…"`) of all files that its filters name.
    public var resourceDigests: Set<String> {
        var digests: Set<String> = []
        var open = [json]
        while let value = open.popLast() {
            switch value {
            case .string(let text) where text.isDigest: digests.insert(text)
            case .array(let values): open += values
            case .object(let fields): open += fields.values
            case .string, .number, .bool, .null: continue
            }
        }
        return digests
    }
}

extension String {
    /// Whether it is a digest: `sha256:` and 64 hexadecimal digits in lower case.
    fileprivate var isDigest: Bool {
        hasPrefix("sha256:") && utf8.count == 71
            && utf8.dropFirst(7).allSatisfy {
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
                    || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
            }
    }
}
