import AsyncHTTPClient
import NIOCore
import NIOHTTP1

/// The progress in reading an object, which may continue over several connections.
struct Reading {
    private let range: Range<Int>?
    private var tag: BlobTag?
    /// The offset of the next byte.
    private(set) var offset: Int
    /// The offset after the last byte; nil until the first answer.
    private(set) var end: Int?

    init(range: Range<Int>?, tag: BlobTag?) {
        self.range = range
        self.tag = tag
        offset = range?.lowerBound ?? 0
    }

    var isWhole: Bool { offset == end }

    /// The headers that request the rest of the same content.
    var headers: [(name: String, value: String)] {
        var headers: [(name: String, value: String)] = []
        if range != nil || offset > 0 {
            let last = (end ?? range?.upperBound).map { String($0 - 1) } ?? ""
            headers.append(("range", "bytes=\(offset)-\(last)"))
        }
        if let tag { headers.append(("if-match", tag.text)) }
        return headers
    }

    /// Reads an answer's head, which must match the request.
    mutating func begin(_ response: HTTPClientResponse) throws(AttemptFailure) -> Blob {
        let asksForRange = range != nil || offset > 0
        var size = response.headers.first(name: "content-length") ?? ""
        var end = Int(size)
        if asksForRange {
            guard response.status == .partialContent,
                let sent = response.headers.first(name: "content-range").flatMap(Self.contentRange),
                sent.first == offset,
                // A shorter range would leave a gap that the length does not reveal.
                sent.last + 1 == min(self.end ?? range?.upperBound ?? sent.size, sent.size)
            else { throw .senseless("other bytes than the range that was asked for") }
            size = String(sent.size)
            end = sent.last + 1
        }
        let blob = try Blob(response.headers, size: size)
        guard tag == nil || tag == blob.tag, self.end == nil || self.end == end, let end,
            end <= range?.upperBound ?? .max
        else { throw .senseless("another content than the one that was asked for") }
        tag = blob.tag
        self.end = end
        return blob
    }

    /// Counts bytes that have arrived.
    mutating func receive(_ piece: ByteBuffer) throws(AttemptFailure) {
        guard offset + piece.readableBytes <= end ?? 0 else {
            throw .senseless("more bytes than announced")
        }
        offset += piece.readableBytes
    }

    /// Parses `bytes 0-9/100`.
    private static func contentRange(_ header: String) -> (first: Int, last: Int, size: Int)? {
        guard header.hasPrefix("bytes ") else { return nil }
        let parts = header.dropFirst("bytes ".count).split(
            whereSeparator: { $0 == "-" || $0 == "/" }
        ).map { Int($0) }
        guard parts.count == 3, let first = parts[0], let last = parts[1], let size = parts[2],
            0 <= first, first <= last, last < size
        else { return nil }
        return (first, last, size)
    }
}

extension Blob {
    /// Reads the description of an object from an answer's head.
    init(_ headers: HTTPHeaders, size: String?) throws(AttemptFailure) {
        guard let tag = headers.first(name: "etag"), let size = size.flatMap({ Int($0) }), size >= 0
        else {
            throw .senseless("without ETag or length")
        }
        let digest =
            headers.first(name: "x-amz-checksum-sha256").flatMap { BlobDigest(base64: $0) }
            ?? headers.first(name: "x-amz-meta-sha256").flatMap { BlobDigest(hex: $0) }
        self.init(
            size: size, tag: BlobTag(tag), digest: digest,
            modified: headers.first(name: "last-modified").flatMap { BlobTime(httpDate: $0) })
    }
}
