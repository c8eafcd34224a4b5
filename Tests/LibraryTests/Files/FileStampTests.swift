import Files
import Foundation
import Glibc
import MinilabTesting
import Testing

@Suite("Stamps of files") struct FileStampTests {
    private let folder: TemporaryFolder
    private let path: String
    private let file: OpenFile

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("a")
        try Data("before".utf8).write(to: URL(filePath: path))
        file = try OpenFile(reading: path)
    }

    /// Writes into the file and sets its time of writing back.
    private func changeUnseen() throws {
        var status = stat()
        #expect(stat(path, &status) == 0)
        let writer = open(path, O_WRONLY)
        #expect(pwrite(writer, "behind", 6, 0) == 6)
        let times = [status.st_atim, status.st_mtim]
        #expect(futimens(writer, times) == 0)
        close(writer)
    }

    @Test func `differ when a file was changed in place and its time of writing set back`() throws {
        let before = try file.stamp(getsLinks: false)
        // The kernel's clock of files ticks every few milliseconds.
        repeat { try changeUnseen() } while try file.stamp(getsLinks: false) == before
        #expect(file.bytes(from: 0, count: 6) == Array("behind".utf8))
    }

    @Test func `are the same after a further hard link where the file may get some`() throws {
        let before = try file.stamp(getsLinks: true)
        #expect(link(path, folder.file("b")) == 0)
        #expect(try file.stamp(getsLinks: true) == before)
    }
}
