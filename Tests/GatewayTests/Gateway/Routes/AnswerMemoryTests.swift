import AccessKeys
import HTTPTypes
import Hummingbird
import NIOCore
import NIOEmbedded
import Synchronization
import Testing

@testable import Gateway

@Suite("The memory of answers") struct AnswerMemoryTests {
    /// A client's side of an answer, which tells what is held while it reads.
    private struct Reader: ResponseBodyWriter {
        let seen: @Sendable (Int) -> Void

        mutating func write(_ buffer: ByteBuffer) async throws { seen(buffer.readableBytes) }
        consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
    }

    private static let place = AnswerMemory.placeBytes

    private static func answer(_ bytes: Int, _ type: String = "application/json") -> Response {
        Response(
            status: .ok, headers: [.contentType: type],
            body: ResponseBody(byteBuffer: ByteBuffer(repeating: 0x20, count: bytes)))
    }

    @Test func `a tenant has a part of it, and the others find some`() throws {
        let memory = AnswerMemory(bytesMax: 64 * Self.place)
        var held: [AnswerMemory.Lease] = []
        while let lease = memory.take(3 * Self.place, for: .tenant("acme")) { held.append(lease) }
        // What was begun and refused is given back.
        #expect(memory.count == 3 * held.count && (8...10).contains(held.count))
        let other = try #require(memory.take(3 * Self.place + 1, for: .tenant("globex")))
        #expect(memory.count == 3 * held.count + 4)
        other.close()
        other.close()
        held = []
        #expect(memory.count == 0)
    }

    @Test func `an answer holds its places until it is read, and frees them once`() async throws {
        let memory = AnswerMemory(bytesMax: 64 * Self.place)
        let channel = NIOAsyncTestingChannel()
        let seen = Mutex<[Int]>([])
        let body = try memory.counted(
            Self.answer(2 * Self.place + 1), for: .tenant("acme"), over: channel)
        #expect(memory.count == 3 && body.contentLength == 2 * Self.place + 1)
        try await body.write(Reader { _ in seen.withLock { $0.append(memory.count) } })
        #expect(seen.withLock { $0 } == [3])
        #expect(memory.count == 0)
        // One that nobody reads.
        do {
            _ = try memory.counted(
                Self.answer(2 * Self.place), for: .tenant("acme"), over: channel)
        }
        #expect(memory.count == 0)
    }

    @Test func `small answers and files are not counted, and what is too much is refused`()
        throws
    {
        let memory = AnswerMemory(bytesMax: 64 * Self.place)
        let channel = NIOAsyncTestingChannel()
        let small = try memory.counted(
            Self.answer(Self.place), for: .tenant("acme"), over: channel)
        let file = try memory.counted(
            Self.answer(2 * Self.place, "image/jpeg"), for: .tenant("acme"), over: channel)
        #expect(memory.count == 0)
        #expect(small.contentLength == Self.place && file.contentLength == 2 * Self.place)
        let refused = #expect(throws: Problem.self) {
            try memory.counted(
                Self.answer(64 * Self.place), for: .tenant("acme"), over: channel)
        }
        #expect(refused?.status == .tooManyRequests && memory.count == 0)
    }
}
