import Edits
import Files
import Foundation
import Glibc
import MinilabTesting
import SystemPackage
import Testing

@Suite("Open files") struct OpenFileTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("a")
        try Data("text".utf8).write(to: URL(filePath: path))
    }

    @Test func `report by code what is not there and what is no file`() throws {
        func code(_ path: String) -> FailureCode? {
            do throws(Failure) {
                _ = try OpenFile(reading: path)
                return nil
            } catch {
                return error.code
            }
        }
        #expect(code(path) == nil)
        #expect(code(folder.file("none")) == .missingAsset)
        #expect(code(path + "/below") == .missingAsset)
        #expect(code(folder.path) == .unsupportedFormat)
        #expect(mkfifo(folder.file("pipe"), 0o600) == 0)
        #expect(code(folder.file("pipe")) == .unsupportedFormat)
    }

    @Test func `give fewer bytes at the end and none after an error`() throws {
        let file = try OpenFile(reading: path)
        #expect(file.bytes(from: 2, count: 100) == Array("xt".utf8))
        #expect(file.bytes(from: 4, count: 100).isEmpty)
        let writer = try OpenFile(opening: path, O_WRONLY)
        #expect(writer.bytes(from: 0, count: 4).isEmpty)
    }

    @Test func `without a name are empty, written and read, and leave nothing`() throws {
        let file = try OpenFile.nameless(in: folder.path, name: "scratch")
        #expect(try file.length() == 0)
        try file.write(Array("abc".utf8), at: 2)
        try file.cut(to: 4)
        #expect(file.bytes(from: 0, count: 10) == Array("\0\0ab".utf8))
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        // On NFS it has a name of the client's own while it is open.
        #expect(names.filter { !FileSystem.isSilly($0) } == ["a"])
    }

    @Test func `are locked for one of those that opened them, until it lets go`() throws {
        var first: OpenFile? = try OpenFile(opening: path, O_RDWR)
        let second = try OpenFile(opening: path, O_RDWR)
        #expect(try first?.lock() == true)
        #expect(try second.lock() == false)
        first = nil
        #expect(try second.lock())
        #expect(try second.isAt(path))
        // NFS gives a removed file that is open another name: it has one, and is not there.
        #expect(rename(path, folder.file(".nfs000000000006000200000001")) == 0)
        #expect(try !second.isAt(path))
        try Data("other".utf8).write(to: URL(filePath: path))
        #expect(try !second.isAt(path))
        unlink(folder.file(".nfs000000000006000200000001"))
        #expect(try !second.isAt(path))
    }

    @Test func `the status of a process has bytes where proc gives kilobytes`() throws {
        let status = try #require(ProcessStatus("self"))
        #expect(try #require(status.bytes("VmRSS")) >= 1024)
        #expect(status.bytes("VmNothing") == nil)
        #expect(status.bytes("Name") == nil)
        #expect(ProcessStatus("none") == nil)
    }

    @Test func `a file in memory with a length neither grows nor shrinks`() throws {
        let file = try OpenFile.inMemory(name: "fixed", bytes: 8)
        let bytes = [UInt8](repeating: 7, count: 9)
        try bytes.withUnsafeBytes { all throws in
            try file.write(UnsafeRawBufferPointer(rebasing: all[..<8]), at: 0)
        }
        for length in [0, 9] { #expect(ftruncate(file.descriptor, off_t(length)) == -1) }
        #expect(pwrite(file.descriptor, bytes, 1, 8) == -1)
        #expect(try file.length() == 8)
    }

    @Test func `a sealed file in memory is only read`() throws {
        let file = try OpenFile.inMemory(name: "sealed")
        try [UInt8](repeating: 7, count: 4).withUnsafeBytes { try file.write($0, at: 0) }
        try file.seal()
        #expect(pwrite(file.descriptor, [UInt8(1)], 1, 0) == -1)
        #expect(file.bytes(from: 0, count: 8) == [7, 7, 7, 7])
    }
}
