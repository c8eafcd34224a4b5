import Files
import FoundationEssentials
import Glibc
import Logging
import MinilabTesting
import SystemPackage
import Testing

@testable import RenderPool

@Suite("Which render child is started") struct RenderProgramTests {
    private static let flags =
        "fpu sse2 ssse3 fma cx16 sse4_1 sse4_2 movbe popcnt xsave avx f16c abm bmi1 avx2 bmi2"

    private func cpuinfo(_ flags: String) -> String {
        "processor\t: 0\nvendor_id\t: AuthenticAMD\nflags\t\t: \(flags)\nbugs\t\t: none\n"
    }

    @Test func `a processor of level 3 takes the wide build`() {
        #expect(RenderProgram.missing(in: cpuinfo(Self.flags)).isEmpty)
    }

    @Test(arguments: ["avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"])
    func `a processor that lacks a part of level 3 does not`(part: String) {
        let left = Self.flags.split(separator: " ").filter { $0 != part }
        #expect(RenderProgram.missing(in: cpuinfo(left.joined(separator: " "))) == [part])
    }

    @Test func `a machine that says nothing of its processor does not`() {
        #expect(RenderProgram.missing(in: "").count == 9)
        #expect(RenderProgram.missing(in: "processor : 0\nFeatures : fp asimd\n").count == 9)
    }

    @Test(arguments: ["", "#!/bin/sh\n", "\u{7F}ELF\u{1}\u{1}\u{1}"])
    func `a wide build that is no program of this machine is passed over, and told`(
        content: String
    ) throws {
        let folder = try TemporaryFolder()
        let wide = folder.file("minilab-render-x86-64-v3")
        try content.write(toFile: wide, atomically: false, encoding: .utf8)
        #expect(chmod(wide, 0o755) == 0)
        let path = RenderProgram.path(in: FilePath(folder.path))
        #expect(path.lastComponent?.string == "minilab-render")
        #expect(RenderProgram.fault(of: path)?.contains(wide) == true)
    }

    @Test func `a wide build that cannot answer is replaced when a worker starts`() async throws {
        let folder = try TemporaryFolder()
        let wide = folder.file("minilab-render-x86-64-v3")
        try "#!/bin/sh\nexit 1\n".write(toFile: wide, atomically: false, encoding: .utf8)
        #expect(chmod(wide, 0o755) == 0)
        let basic = folder.file("minilab-render")
        #expect(symlink(try Programs.path(of: "minilab-hostile-child"), basic) == 0)
        let pool = RenderPool(
            settings: RenderSettings(executable: FilePath(wide)), logger: Logger(label: "test"))
        try await pool.start()
        #expect(await pool.executable == FilePath(basic))
        await pool.close()
    }

    @Test func `where the wide build is not installed the other one is taken`() throws {
        let folder = try TemporaryFolder()
        let path = RenderProgram.path(in: FilePath(folder.path))
        #expect(path.lastComponent?.string == "minilab-render")
        #expect(
            RenderProgram.kernels(of: path)
                != RenderProgram.kernels(of: "/minilab-render-x86-64-v3"))
    }
}
