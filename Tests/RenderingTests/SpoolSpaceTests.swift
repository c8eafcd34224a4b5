import Edits
import Files
import Foundation
import Glibc
import RenderProtocol
import Testing

@testable import Rendering
@testable import Codecs

@Suite("Space for a spool") struct SpoolSpaceTests {
    private let studio: Studio

    init() throws { studio = try Studio() }

    private func failure(bytes: Int, in folder: String) -> Failure? {
        do {
            _ = try SpoolFile(bytes: bytes, in: SpoolSpace(in: folder))
            return nil
        } catch {
            return error as? Failure
        }
    }

    @Test func `what no disk has is refused with both figures`() throws {
        let refusal = try #require(failure(bytes: 1 << 60, in: studio.folder))
        #expect(refusal.code == .noSpace)
        #expect(refusal.message.contains("a spool file of 1152921504606846976 bytes"))
        #expect(refusal.message.contains("free. Free some space"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: studio.folder).isEmpty)
    }

    @Test func `a render whose spool is beyond the limit is refused when it is planned`() throws {
        let source = studio.path("in.png")
        try VipsTurn.shared { try TestPicture.image(width: 100, height: 64).writePNG(to: source) }
        let recipe = try Recipe(filters: [Filter("turn", ["degrees": 90])])
        func plan(_ bytes: Int) throws -> RenderPlan {
            var limits = RenderLimits()
            limits.spoolMax = bytes
            return try VipsTurn.shared {
                try Photo(
                    source, recipe: recipe, limits: limits, memorySpoolBytesMax: 0,
                    resources: .none
                ).plan
            }
        }
        let bytes = try plan(1 << 20).estimate.spoolBytes
        #expect(bytes >= 100 * 64 * 3)
        #expect(try plan(bytes).estimate.spoolBytes == bytes)
        let refusal = #expect(throws: Failure.self) { try plan(bytes - 1) }
        #expect(refusal?.code == .exceedsLimit)
        #expect(refusal?.message.contains("\(bytes) bytes of spool files; limit.spool") == true)
    }

    @Test func `a folder that is not there is no full disk`() {
        #expect(failure(bytes: 1, in: studio.path("none"))?.code == .ioFailure)
    }

    @Test func `parts of a spool do not overlap, and what is given back is free`() throws {
        let space = try SpoolSpace(in: studio.folder)
        do {
            let (one, other) = (
                try SpoolFile(bytes: 8192, in: space), try SpoolFile(bytes: 8192, in: space)
            )
            try [UInt8](repeating: 1, count: 8192).withUnsafeBytes { try one.write($0, at: 0) }
            try [UInt8](repeating: 2, count: 8192).withUnsafeBytes { try other.write($0, at: 0) }
            var bytes = [UInt8](repeating: 0, count: 8192)
            try bytes.withUnsafeMutableBytes { try one.read($0, at: 0) }
            #expect(bytes.allSatisfy { $0 == 1 })
        }
        var status = stat()
        #expect(fstat(space.file.descriptor, &status) == 0 && status.st_blocks == 0)
        #expect(try space.reserve(4096) == 0)
    }

    @Test(.enabled(if: geteuid() == 0, "mounts a small disk"))
    func `a full disk is told before a pixel is written, and is free again after`() throws {
        let disk = studio.path("disk")
        try FileManager.default.createDirectory(
            atPath: disk, withIntermediateDirectories: true)
        guard mount("tmpfs", disk, "tmpfs", 0, "size=1m") == 0 else {
            // A container's root may not.
            #expect(errno == EPERM)
            return
        }
        defer { umount2(disk, Int32(MNT_DETACH)) }
        let source = studio.path("in.png")
        try VipsTurn.shared { try TestPicture.image(width: 700, height: 700).writePNG(to: source) }
        let recipe = try Recipe(
            filters: [Filter("turn", ["degrees": 90])], output: .init(format: .jpeg))
        #expect {
            try VipsTurn.shared {
                try Photo(
                    source, recipe: recipe, limits: RenderLimits(), memorySpoolBytesMax: 0,
                    resources: .none
                ).write(to: disk + "/result.jpg", folder: disk, failOn: .warning)
            }
        } throws: {
            guard case .failure(let failure)? = $0 as? WritingError else { return false }
            return failure.code == .noSpace && failure.message.contains("the disk has")
        }
        do {
            let first = try SpoolFile(bytes: 600_000, in: SpoolSpace(in: disk))
            #expect(failure(bytes: 600_000, in: disk)?.code == .noSpace)
            withExtendedLifetime(first) {}
        }
        #expect(failure(bytes: 600_000, in: disk) == nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: disk) == ["result.jpg"])
    }
}
