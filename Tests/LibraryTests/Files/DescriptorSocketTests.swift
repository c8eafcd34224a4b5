import Edits
import Files
import Foundation
import Glibc
import MinilabTesting
import Testing

@Suite("Sockets for lines and files") struct DescriptorSocketTests {
    @Test func `bytes that need several calls come whole, and the file once`() throws {
        let folder = try TemporaryFolder()
        try Data("handed".utf8).write(to: URL(filePath: folder.file("a")))
        let file = try OpenFile(reading: folder.file("a"))
        let (ours, theirs) = try DescriptorSocket.pair()
        let receiver = DescriptorSocket(adopting: theirs)
        let bytes = (0..<2_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 9) }
        onThread {
            defer { ours.shutDown() }
            try ours.send(bytes, with: [file.descriptor])
        }
        var came: (bytes: [UInt8], files: [Int32]) = ([], [])
        while true {
            let part = try receiver.receive(bytesMax: 1 << 16)
            if part.bytes.isEmpty { break }
            came.bytes += part.bytes
            came.files += part.files
        }
        #expect(came.bytes == bytes)
        let handed = try #require(came.files.first)
        let copy = OpenFile(adopting: handed, name: "the handed file")
        #expect(came.files.count == 1)
        #expect(copy.bytes(from: 0, count: 10) == Array("handed".utf8))
    }

    @Test func `an end that is closed is reported`() throws {
        let (ours, theirs) = try DescriptorSocket.pair()
        close(theirs)
        #expect(throws: Failure.self) { try ours.send([1], with: []) }
        #expect(try ours.receive(bytesMax: 1).bytes.isEmpty)
    }
}
