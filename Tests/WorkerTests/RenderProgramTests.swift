import Edits
import Files
import FoundationEssentials
import Glibc
import Logging
import MinilabTesting
import RenderProtocol
import SystemPackage
import Telemetry
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
        let wide = try folder.script("minilab-render-x86-64-v3", "exit 1")
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

    // MARK: Texts

    /// A child that left files open after its answer was ended after most texts.
    @Test func `one process draws many texts`() async throws {
        let metrics = Metrics()
        let bench = try Workbench(metrics: RenderMetrics(metrics))
        let font = try OpenFile(
            reading: TestFont.latin.path)
        let digest = "sha256:" + (try FileDigest.hex(of: font))
        for number in 0..<50 {
            let own = Mark.Text(
                "No. \(number)", fonts: [digest], size: Mark.Length(millionths: 40_000_000))
            let request = TextRequest(
                Mark(.text(own), isInPixels: true), own, text: own.text,
                in: PixelSize(width: 800, height: 600))
            let drawn = try await bench.pool.coverage(
                of: request, OwnedFonts([digest: font], ofOwner: []),
                for: Borrower(.photo("a.jpg")))
            #expect(drawn.bytes.max() == 255)
        }
        func count(_ name: String) -> Double {
            metrics.families().filter { $0.name == name }.flatMap(\.samples).reduce(0) {
                $0 + $1.value
            }
        }
        #expect(count("minilab_child_starts_total") == 1)
        #expect(count("minilab_child_ends_total") == 0)
        await bench.pool.close()
    }

    // MARK: Stand-ins

    /// Makes a program's folder whose stand-ins are made for a library, and returns the program and the library.
    private func standIns(in folder: TemporaryFolder, for other: String = "") throws -> (
        program: FilePath, library: String
    ) {
        let library = folder.file("libmade.so.1")
        try "bytes".write(toFile: library, atomically: false, encoding: .utf8)
        var status = stat()
        #expect(stat(library, &status) == 0)
        let standIns = folder.file(UnusedLibraries.folderName)
        #expect(mkdir(standIns, 0o755) == 0)
        try "\(library) \(status.st_size) \(status.st_mtim.tv_sec)\n\(other)".write(
            toFile: "\(standIns)/\(UnusedLibraries.listName)", atomically: false, encoding: .utf8)
        return (FilePath(folder.file("minilab-render")), library)
    }

    @Test func `stand-ins are used beside the libraries for which they were made`() throws {
        let folder = try TemporaryFolder()
        let (program, _) = try standIns(in: folder)
        #expect(
            UnusedLibraries.folder(beside: program)?.string
                == folder.file(UnusedLibraries.folderName))
        #expect(UnusedLibraries.folder(beside: "/nowhere/minilab-render") == nil)
    }

    @Test func `stand-ins are left alone after a library was updated`() throws {
        let folder = try TemporaryFolder()
        let (program, library) = try standIns(in: folder)
        try "other bytes".write(toFile: library, atomically: false, encoding: .utf8)
        #expect(UnusedLibraries.folder(beside: program) == nil)
    }

    @Test(arguments: ["/nowhere/libgone.so.1 1 1\n", "/nowhere/libgone.so.1\n", "1 2 3 4\n"])
    func `stand-ins are left alone where one of their libraries is unknown`(line: String) throws {
        let folder = try TemporaryFolder()
        #expect(
            UnusedLibraries.folder(beside: try standIns(in: folder, for: line).program) == nil)
    }

    @Test func `a child loads no library that no photo reaches`() async throws {
        let child = RenderProcess(
            executable: FilePath(try Programs.path(of: "minilab-render")),
            logger: Logger(label: "test"))
        _ = try await child.ask(.confinement, RenderFiles(), timeout: .seconds(60))
        let pid = try #require(child.pid)
        // The kernel gives a page at a time, which Foundation takes for the end.
        let file = try #require(fopen("/proc/\(pid)/maps", "r"))
        var maps = ""
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 {
            maps += String(decoding: buffer[..<count], as: UTF8.self)
        }
        fclose(file)
        child.finish()
        await child.wait()
        #expect(maps.contains("libvips.so") && maps.contains(UnusedLibraries.folderName))
        for name in ["libcurl", "libhdf5", "libldap", "libX11", "librsvg"] {
            let found = maps.split(separator: "\n").filter {
                $0.contains("/\(name)") && !$0.contains(UnusedLibraries.folderName)
            }
            #expect(found.isEmpty, "\(found)")
        }
    }
}
