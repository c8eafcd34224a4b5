/// Spans that wait to be sent, within limits: what comes when it is full is not kept, and counted.
public struct SpanBuffer: Sendable {
    /// Most spans that wait.
    public static let spansMax = 8192
    /// Most bytes of them, as ``FinishedSpan/bytes`` tells.
    public static let bytesMax = 16 << 20
    /// Most spans of one request; with so many it is sent at once.
    public static let batchMax = 512
    /// Most bytes of one request, likewise; a span that is larger goes alone.
    public static let batchBytesMax = 1 << 20

    private var spans: [FinishedSpan] = []
    private var bytes = 0

    /// An empty buffer.
    public init() {}

    /// How many wait.
    public var count: Int { spans.count }

    /// Whether a request can be filled.
    public var hasBatch: Bool { spans.count >= Self.batchMax || bytes >= Self.batchBytesMax }

    /// Keeps a span.
    ///
    /// - Returns: whether there was room.
    public mutating func add(_ span: FinishedSpan) -> Bool {
        let size = span.bytes
        guard spans.count < Self.spansMax, bytes + size <= Self.bytesMax else { return false }
        spans.append(span)
        bytes += size
        return true
    }

    /// Removes the spans of the next request and returns them, the oldest first; empty when none waits.
    public mutating func removeBatch() -> [FinishedSpan] {
        var count = 0
        var size = 0
        for span in spans.prefix(Self.batchMax) {
            let next = span.bytes
            if count > 0, size + next > Self.batchBytesMax { break }
            count += 1
            size += next
        }
        defer { spans.removeFirst(count) }
        bytes -= size
        return Array(spans.prefix(count))
    }
}
