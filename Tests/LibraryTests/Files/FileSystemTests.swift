import Edits
import Files
import Foundation
import Glibc
import MinilabTesting
import SystemPackage
import Testing

@Suite("Trees of files") struct FileSystemTests {
    private let folder: TemporaryFolder
    private let files = FileSystem()

    init() throws { folder = try TemporaryFolder() }

    private func path(_ name: String) -> FilePath { FilePath(folder.file(name)) }

    private func failure(_ call: () throws(Failure) -> Void) -> Failure? {
        do throws(Failure) {
            try call()
            return nil
        } catch {
            return error
        }
    }

    @Test func `a folder is listed whole, sorted, however many names it has`() throws {
        // More than one getdents64 of the C library gives.
        let names = (1000..<3000).map { "name-\($0)" }
        for name in names.shuffled() {
            #expect(FileManager.default.createFile(atPath: folder.file(name), contents: nil))
        }
        #expect(try files.list(FilePath(folder.path)) == names)
        #expect(try files.list(path("none")) == [])
    }

    @Test(arguments: [
        (".nfs000000000006000200000001", true), (".nfs00000000abcdef0200000001", true),
        (".nfs", false), (".nfs00000000000600020000001", false),
        ("nfs000000000006000200000001", false),
        (".nfs00000000000600020000000G", false), (".nfs000000000006000200000001.jpg", false),
    ])
    func `the names that NFS gives to removed files are known`(name: String, isSilly: Bool) {
        #expect(FileSystem.isSilly(name) == isSilly)
    }

    @Test func `a folder of another machine is asked for anew, and may be gone`() throws {
        try files.refresh(FilePath(folder.path))
        try files.refresh(path("none"))
        try files.write([1], to: path("file"))
        try files.refresh(path("file/below"))
        #expect(
            failure { () throws(Failure) in
                try files.refresh(path(String(repeating: "x", count: 300)))
            } != nil)
    }

    @Test func `a file is read up to its bound, and refused by code beyond it`() throws {
        try files.write(Array("12345".utf8), to: path("a"))
        let root = FilePath(folder.path)
        #expect(try files.read("a", in: root, bytesMax: 5) == Array("12345".utf8))
        let beyond = failure { () throws(Failure) in
            _ = try files.read("a", in: root, bytesMax: 4, oversized: .badSidecar)
        }
        #expect(beyond?.code == .badSidecar)
        #expect(beyond?.message == "\(path("a")) has 5 bytes; at most 4 are expected.")
    }

    @Test func `a name that leads out of its folder is distinguished from a damaged disk`() throws {
        try files.makeFolder(path("inside/deep"))
        try files.write([1], to: path("outside"))
        try files.point(path("inside/link"), to: "../outside")
        for name in ["../outside", "link", folder.file("outside")] {
            let refused = failure { () throws(Failure) in
                _ = try files.openFile(name, in: path("inside"))
            }
            #expect(refused?.code == .damagedVersion, "\(name)")
        }
        let missing = failure { () throws(Failure) in
            _ = try files.openFile("none", in: path("inside"))
        }
        #expect(missing?.code == .ioFailure)
        let none = failure { () throws(Failure) in
            _ = try files.openFile("deep", in: path("inside"))
        }
        #expect(none?.code == .damagedVersion)
    }

    @Test func `a file is moved to a name only where nothing has it`() throws {
        try files.write([1], to: path("a"))
        try files.write([2], to: path("b"))
        let refused = failure { () throws(Failure) in
            try files.moveToFreeName(path("a"), to: path("b"))
        }
        #expect(refused?.code == .ioFailure)
        // A crash left both names of one file.
        try files.link(path("a"), at: path("c"))
        try files.moveToFreeName(path("a"), to: path("c"))
        #expect(try files.list(FilePath(folder.path)) == ["b", "c"])
    }

    @Test func `a link says where it points, and what is none says nothing`() throws {
        try files.point(path("link"), to: "versions/1")
        #expect(try files.linkTarget(path("link")) == "versions/1")
        #expect(try files.linkTarget(path("none")) == nil)
        #expect(try files.linkTarget(FilePath(folder.path)) == nil)
        #expect(throws: Errno.invalidArgument) { try FileSystem.target(ofLink: folder.path) }
    }

    @Test func `what goes together is freed once, and what has another name is not`() throws {
        try files.makeFolder(path("tree/below"))
        try files.write([UInt8](repeating: 0, count: 100), to: path("tree/one"))
        try files.link(path("tree/one"), at: path("tree/below/same"))
        try files.write([UInt8](repeating: 0, count: 7), to: path("tree/kept"))
        try files.link(path("tree/kept"), at: path("kept"))
        #expect(try files.freedBytes(in: [path("tree")]) == 100)
        try files.remove(path("tree"))
        try files.remove(path("tree"))
        #expect(try files.list(FilePath(folder.path)) == ["kept"])
    }

    @Test func `a name that is too long and a file that is in the way have their sentences`() throws
    {
        let long = path(String(repeating: "x", count: FileSystem.nameBytesMax + 1))
        #expect(
            failure { () throws(Failure) in try files.write([1], to: long) }?.code == .invalidValue)
        try files.write([1], to: path("a"))
        #expect(
            failure { () throws(Failure) in try files.write([2], to: path("a")) }?.message
                == "making the file \(path("a")) failed: File exists.")
    }

    @Test
    func `after a crash every call that changes something fails, and those before are reported`()
        throws
    {
        let faults = FaultInjection(afterCalls: 1)
        let files = FileSystem(faults: faults)
        try files.write([1], to: path("a"))
        #expect(failure { () throws(Failure) in try files.remove(path("a")) } != nil)
        #expect(failure { () throws(Failure) in try files.sync(path("a")) } != nil)
        #expect(faults.hasStruck)
        #expect(faults.calls == [FileCall(name: "write", path: path("a"))])
        #expect(try files.exists(path("a")))
    }
}
