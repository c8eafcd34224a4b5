import Edits
import NIOCore
import Testing

@testable import Gateway

@Suite("frames of events") struct EventFramesTests {
    private struct NotMade: Error {}

    @Test func `a frame is made once for a view, and each view has its own`() throws {
        let frames = EventFrames()
        var made = 0
        for _ in 0..<3 {
            for view in ["acme acme", "zebra zebra", ""] {
                let frame = frames.frame(of: "1-0", in: view) {
                    made += 1
                    return ByteBuffer(string: view)
                }
                #expect(frame == ByteBuffer(string: view))
            }
        }
        #expect(made == 3)
    }

    @Test func `folders that only Unicode thinks alike share no frames`() {
        let reaches = [
            Reach(tenant: "acme", folder: "caf\u{E9}/"),
            Reach(tenant: "acme", folder: "cafe\u{301}/"),
            Reach(tenant: nil, folder: "caf\u{E9}/"), Reach(tenant: "acme", folder: ""),
            .everything,
        ]
        #expect(Set(reaches.map(\.viewName)).count == reaches.count)
    }

    @Test func `that nothing is seen of an event is remembered too`() {
        let frames = EventFrames()
        #expect(frames.frame(of: "1-0", in: "acme") { nil } == nil)
        #expect(frames.frame(of: "1-0", in: "acme") { ByteBuffer(string: "a") } == nil)
    }

    @Test func `a frame that could not be made is tried again`() throws {
        let frames = EventFrames()
        #expect(throws: NotMade.self) { try frames.frame(of: "1-0", in: "") { throw NotMade() } }
        #expect(frames.frame(of: "1-0", in: "") { ByteBuffer(string: "a") } != nil)
    }

    @Test func `of large frames, fewer are kept`() {
        let frames = EventFrames()
        let large = ByteBuffer(repeating: 0x20, count: EventStreaming.eventBytesMax)
        var made = 0
        func ask(_ number: Int) {
            _ = frames.frame(of: "\(number)-0", in: "") {
                made += 1
                return large
            }
        }
        let most = EventFrames.keptBytesMax / large.readableBytes
        for number in 0...most { ask(number) }
        ask(most)
        #expect(made == most + 1)
        ask(0)
        #expect(made == most + 2)
    }

    @Test func `the oldest frames are let go of`() {
        let frames = EventFrames()
        func isKept(_ number: Int) -> Bool {
            var isMade = false
            _ = frames.frame(of: "\(number)-0", in: "") {
                isMade = true
                return nil
            }
            return !isMade
        }
        for number in 0...EventFrames.keptMax { #expect(!isKept(number)) }
        #expect(isKept(1))
        #expect(!isKept(0))
    }
}
