import Foundation
import Glibc
import Codecs
import MinilabTesting
import Testing

@Suite struct BadJPEGTests {
    /// Everything that the reader can do with a file, each from the start.
    static func readEverything(_ path: String, limits: JPEGLimits = JPEGLimits()) throws {
        let reader = try JPEGReader(path, limits: limits)
        let layout = reader.header.layout
        let planes = JPEGPlanes(layout)
        try reader.startPlanes()
        for _ in 0..<layout.mcuRows { try reader.readPlanes(into: planes) }
        try reader.finish()
        let memory = UnsafeMutablePointer<UInt8>.allocate(
            capacity: layout.width * layout.height * 4)
        defer { memory.deallocate() }
        try JPEGReader(path, limits: limits).readRows(eighths: 8) { _, _, _ in memory }
        try JPEGTransform(turn: .transposed).write(
            JPEGReader(path, limits: limits), to: "/dev/null", markers: reader.header.markers)
    }

    private static func kind(_ body: () throws -> Void) throws -> JPEGError.Kind? {
        do {
            try body()
            return nil
        } catch let error as JPEGError {
            #expect(!error.text.isEmpty)
            return error.kind
        }
    }

    @Test(arguments: [false, true])
    func `a photo that is cut off anywhere is damaged`(isProgressive: Bool) throws {
        let photo = try TestPhoto(64, 48, isProgressive: isProgressive)
        let bytes = try photo.bytes
        for length in stride(from: 1, to: bytes.count, by: 37) {
            try Data(bytes.prefix(length)).write(to: URL(filePath: photo.path))
            #expect(try Self.kind { try Self.readEverything(photo.path) } == .damaged, "\(length)")
        }
    }

    @Test(arguments: [false, true])
    func `a photo with wrong bytes is read or refused, and nothing worse`(isProgressive: Bool)
        throws
    {
        let photo = try TestPhoto(64, 48, isProgressive: isProgressive)
        let bytes = try photo.bytes
        var generator = SeededGenerator()
        generator.printSeed()
        var refused = 0
        for _ in 0..<600 {
            var damaged = bytes
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let index = Int.random(in: 2..<bytes.count, using: &generator)
                damaged[index] = UInt8.random(in: 0...255, using: &generator)
            }
            // A size that the damage made up must not cost much.
            try Data(damaged).write(to: URL(filePath: photo.path))
            let limits = JPEGLimits(coefficientBytesMax: 64 << 20)
            let kind = try Self.kind {
                let layout = try JPEGReader(photo.path, limits: limits).header.layout
                guard layout.width * layout.height < 4_000_000 else { return }
                try Self.readEverything(photo.path, limits: limits)
            }
            if let kind {
                #expect([.damaged, .unsupported, .overLimit].contains(kind), "\(kind)")
                refused += 1
            }
        }
        #expect(refused > 50)
    }

    @Test func `bytes to spare between segments are counted and cost nothing`() throws {
        let photo = try TestPhoto(32, 32)
        var bytes = try photo.bytes
        // After SOI (2 bytes) and JFIF's APP0 (18 bytes).
        bytes.insert(contentsOf: [0, 1, 2], at: 20)
        try Data(bytes).write(to: URL(filePath: photo.path))
        try Self.readEverything(photo.path)
        let warnings = try JPEGReader(photo.path).warnings
        #expect(warnings.count == 1)
        #expect(warnings.first.contains("3 extraneous bytes"))
    }

    @Test func `scans, metadata and coefficients have limits`() throws {
        let comment = JPEGMarker(code: 0xFE, bytes: [UInt8](repeating: 32, count: 60_000))
        let photo = try TestPhoto(
            64, 64, isProgressive: true, markers: [JPEGMarker](repeating: comment, count: 5))
        #expect(try Self.kind { try Self.readEverything(photo.path) } == nil)
        let few = [
            JPEGLimits(scansMax: 3), JPEGLimits(markerBytesMax: 200_000),
            JPEGLimits(coefficientBytesMax: 64 * 64 * 3 - 1),
        ]
        for limits in few {
            let kind = try Self.kind { try Self.readEverything(photo.path, limits: limits) }
            #expect(kind == .overLimit, "\(limits)")
        }
        let enough = JPEGLimits(coefficientBytesMax: 64 * 64 * 3)
        #expect(try Self.kind { try Self.readEverything(photo.path, limits: enough) } == nil)
    }

    @Test func `other formats are no JPEG, and 12 bits per sample are not read`() throws {
        let photo = try TestPhoto(16, 16)
        var bytes = try photo.bytes
        let frame = try #require(
            bytes.indices.dropLast().first { bytes[$0] == 0xFF && bytes[$0 + 1] == 0xC0 })
        bytes[frame + 4] = 12
        try Data(bytes).write(to: URL(filePath: photo.path))
        #expect(try Self.kind { try Self.readEverything(photo.path) } == .unsupported)
        try SyntheticPhoto.png(width: 4, height: 4).write(to: URL(filePath: photo.path))
        #expect(try Self.kind { try Self.readEverything(photo.path) } == .damaged)
    }

    @Test func `a full disk and files that are not open are told by the kernel's number`() throws {
        let photo = try TestPhoto(640, 480, quality: 100)
        let full = try Self.kind {
            try JPEGTransform().write(JPEGReader(photo.path), to: "/dev/full", markers: [])
        }
        #expect(full == .notWritten(ENOSPC))
        let missing = photo.folder.file("none.jpg")
        #expect(try Self.kind { _ = try JPEGReader(missing) } == .notRead(EBADF))
        #expect(try Self.kind { _ = try JPEGReader(photo.folder.path) } == .notRead(EISDIR))
        let nowhere = photo.folder.file("none/result.jpg")
        let kind = try Self.kind {
            try JPEGTransform().write(JPEGReader(photo.path), to: nowhere, markers: [])
        }
        #expect(kind == .notWritten(EBADF))
    }

    /// Only with a corpus of hostile files at hand.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["MINILAB_CORPUS"] != nil))
    func `no file of the corpus does worse than to be refused`() throws {
        let corpus = try #require(ProcessInfo.processInfo.environment["MINILAB_CORPUS"])
        let files = try #require(FileManager.default.enumerator(atPath: corpus + "/hostile"))
        var count = 0
        for case let name as String in files {
            let path = corpus + "/hostile/" + name
            guard let file = FileHandle(forReadingAtPath: path),
                // A folder cannot be read; that is all there is to it.
                let head = try? file.read(upToCount: 2), Array(head) == [0xFF, 0xD8]
            else { continue }
            count += 1
            _ = try Self.kind {
                let layout = try JPEGReader(path).header.layout
                guard layout.width * layout.height < 50_000_000 else { return }
                try Self.readEverything(path)
            }
        }
        #expect(count > 0)
    }
}
