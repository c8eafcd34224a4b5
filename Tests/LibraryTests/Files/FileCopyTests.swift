import Edits
import Files
import Foundation
import Glibc
import MinilabTesting
import Testing

@Suite("Copies of files") struct FileCopyTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test(arguments: [0, 1, 8 << 20, (40 << 20) + 3])
    func `a digest that is made by several calls is that of the file`(length: Int) async throws {
        let path = folder.file("large")
        var bytes = Data(count: length)
        for place in stride(from: 0, to: length, by: 4_093) {
            bytes[place] = UInt8(truncatingIfNeeded: place >> 8)
        }
        try bytes.write(to: URL(filePath: path))
        let whole = try FileDigest.sha256(of: path)
        let parts = try await FileDigest.digest(of: OpenFile(reading: path))
        #expect(whole.bytes == length)
        #expect(parts == whole)
    }

    @Test func `a copy is the file, byte for byte, and a full disk is reported`() throws {
        let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) }
        let source = folder.file("in")
        try Data(bytes).write(to: URL(filePath: source))
        let target = folder.file("out")
        let copied = try FileCopy.copy(OpenFile(reading: source), toNew: target)
        #expect(copied.bytes == bytes.count)
        #expect(try copied.hex == FileDigest.sha256(of: source).hex)
        #expect(try Array(Data(contentsOf: URL(filePath: target))) == bytes)
        func code(_ copy: () throws(Failure) -> Void) -> FailureCode? {
            do throws(Failure) {
                try copy()
                return nil
            } catch {
                return error.code
            }
        }
        let input = try OpenFile(reading: source)
        let full = OpenFile(adopting: open("/dev/full", O_WRONLY), name: "/dev/full")
        #expect(code { () throws(Failure) in try FileCopy.copy(input, to: full) } == .noSpace)
        for path in [target, folder.file("none/out")] {
            #expect(
                code { () throws(Failure) in try FileCopy.copy(input, toNew: path) } == .ioFailure)
        }
        #expect(
            code { () throws(Failure) in
                try FileCopy.copy(input, toNew: folder.file("short"), bytesMax: 299_999)
            } == .ioFailure)
    }
}
