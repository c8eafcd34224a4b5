import Files
import Foundation
import Glibc
import MinilabTesting
import SystemPackage
import Testing

@Suite("Calls on descriptors") struct DescriptorTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// More than a pipe holds, so that neither end can do all of it in one call.
    private let bytes = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 9) }

    private func pipe() -> (reader: Int32, writer: Int32) {
        var ends: [Int32] = [-1, -1]
        #expect(Glibc.pipe(&ends) == 0)
        return (ends[0], ends[1])
    }

    private func read(_ descriptor: Int32, count: Int) throws -> [UInt8] {
        var memory = [UInt8](repeating: 0, count: count)
        let count = try memory.withUnsafeMutableBytes { try Descriptor.read(descriptor, into: $0) }
        return Array(memory[..<count])
    }

    @Test func `all bytes go through a pipe that takes only a part of them at a time`() throws {
        let (reader, writer) = pipe()
        defer { close(reader) }
        onThread { [bytes] in
            defer { close(writer) }
            try Descriptor.write(writer, bytes)
        }
        // More memory than there are bytes: what is read ends where the stream does.
        #expect(try read(reader, count: bytes.count + 10) == bytes)
    }

    @Test func `memory is filled though the other end writes byte by byte`() throws {
        let (reader, writer) = pipe()
        defer { close(reader) }
        onThread {
            for byte in UInt8(0)..<200 { try Descriptor.write(writer, [byte]) }
        }
        // The other end is open still: what is read ends where the memory does.
        #expect(try read(reader, count: 200) == Array(0..<200))
        close(writer)
    }

    @Test func `offsets in a file are read and written without moving its own offset`() throws {
        let file = try OpenFile(opening: folder.file("a"), O_RDWR | O_CREAT)
        try Descriptor.write(file.descriptor, Array("abc".utf8))
        try Descriptor.write(file.descriptor, bytes, at: 100)
        #expect(try Descriptor.bytes(file.descriptor, from: 100, count: 2 * bytes.count) == bytes)
        #expect(try Descriptor.bytes(file.descriptor, from: 1, count: 2) == Array("bc".utf8))
        #expect(lseek(file.descriptor, 0, SEEK_CUR) == 3)
    }

    @Test func `a call that a signal interrupts is made again`() throws {
        var calls = 0
        let result = try Descriptor.uninterrupted {
            calls += 1
            errno = EINTR
            return calls < 3 ? -1 : 7
        }
        #expect(result == 7)
        #expect(calls == 3)
    }

    @Test func `another error is reported and the call is not made again`() {
        var calls = 0
        #expect(throws: Errno.noSpace) {
            try Descriptor.uninterrupted {
                calls += 1
                errno = ENOSPC
                return -1
            }
        }
        #expect(calls == 1)
    }

    @Test func `a full disk, a folder and a closed descriptor are reported`() throws {
        let full = try OpenFile(opening: "/dev/full", O_WRONLY)
        #expect(throws: Errno.noSpace) { try Descriptor.write(full.descriptor, [1]) }
        let folder = try OpenFile(opening: folder.path, O_RDONLY)
        #expect(throws: Errno.isDirectory) { try Descriptor.bytes(folder.descriptor, count: 1) }
        #expect(throws: Errno.badFileDescriptor) { try Descriptor.bytes(-1, count: 1) }
        #expect(throws: Errno.badFileDescriptor) { try Descriptor.sync(-1) }
        try Descriptor.sync(folder.descriptor)
    }
}

/// Does what blocks on a thread of its own.
func onThread(_ body: @escaping @Sendable () throws -> Void) {
    Thread.detachNewThread {
        do { try body() } catch { Issue.record(error) }
    }
}
