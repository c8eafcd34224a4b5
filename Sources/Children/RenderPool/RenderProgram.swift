import Files
import Glibc
public import SystemPackage

/// The executables that render. The one for this machine's processor is chosen among those that are installed.
///
/// Both are built from the same files and produce the same bytes: by default Swift does not fuse a multiplication
/// and an addition.
public enum RenderProgram {
    /// The executable that runs on every processor of the architecture.
    static let name = "minilab-render"
    /// The same program, compiled for level 3 of the x86-64 psABI, which has registers of 32 bytes. A usual look
    /// takes a third less time (`Sources/Rendering/Pixels/MEASURED.md`).
    static let wideName = "minilab-render-x86-64-v3"
    /// The program of children that draw texts. It links no decoder of photos.
    static let textName = "minilab-render-text"

    /// The work of a child.
    package enum Kind: Sendable { case photos, texts }

    /// Returns the program that draws texts.
    static func texts(beside executable: FilePath) -> FilePath {
        executable.removingLastComponent().appending(textName)
    }

    /// The features that level 3 adds to the lower levels, by Linux's names: psABI, table 3.1; `abm` is LZCNT.
    private static let features: Set = [
        "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave",
    ]
    /// The bytes read of `/proc/cpuinfo`. The file has a paragraph for each processor; this is enough for the first
    /// one.
    private static let processorBytesMax = 16_384

    /// Returns the executable in a folder for this machine: the basic one if the other one is not installed or is no
    /// program. Whether it answers, and is of this version, is asked by ``RenderPool/start()``.
    public static func path(in folder: FilePath) -> FilePath {
        let wide = folder.appending(wideName)
        return isProgram(wide) == true && missing(in: processors()).isEmpty
            ? wide : folder.appending(name)
    }

    /// Returns the basic executable beside the one for this machine's processor; nil for any other executable.
    static func basic(beside executable: FilePath) -> FilePath? {
        guard executable.lastComponent?.string == wideName else { return nil }
        return executable.removingLastComponent().appending(name)
    }

    /// Returns a sentence if the executable for this machine's processor is installed and cannot be used.
    static func fault(of executable: FilePath) -> String? {
        let wide = executable.removingLastComponent().appending(wideName)
        guard executable.lastComponent?.string == name, isProgram(wide) == false else { return nil }
        return
            "\(wide) is no program of this machine that may be executed. Install it again, or remove it."
    }

    /// Returns the level of the instructions that a renderer uses, and why it is not a higher one.
    public static func kernels(of executable: FilePath) -> String {
        #if arch(x86_64)
            if executable.lastComponent?.string == wideName { return "x86-64-v3 (AVX2)" }
            let missing = missing(in: processors())
            guard missing.isEmpty else {
                return "x86-64, since this processor lacks \(missing.joined(separator: ", "))"
            }
            return switch isProgram(executable.removingLastComponent().appending(wideName)) {
            case true: "x86-64, since the settings name it"
            case false: "x86-64, since \(wideName) beside it is no program that may be executed"
            case nil: "x86-64, since \(wideName) is not installed beside it"
            }
        #else
            return "of the architecture"
        #endif
    }

    /// Returns the features of level 3 that the processor lacks.
    ///
    /// - Parameter processors: the content of `/proc/cpuinfo` (proc(5)). Only the first processor is checked.
    static func missing(in processors: String) -> [String] {
        let line = processors.split(separator: "\n").first { $0.hasPrefix("flags") }
        return features.subtracting((line ?? "").split(separator: " ").map(String.init)).sorted()
    }

    /// Returns whether a file is a program of this machine that may be executed; nil if it is not installed.
    private static func isProgram(_ path: FilePath) -> Bool? {
        do {
            let head = try OpenFile(reading: path.string).bytes(from: 0, count: elfHeadBytes)
            let own = try OpenFile(reading: "/proc/self/exe").bytes(from: 0, count: elfHeadBytes)
            return access(path.string, X_OK) == 0 && head.count == elfHeadBytes
                && elfFields.allSatisfy { head[$0] == own[$0] }
        } catch {
            return nil  // if the basic one is missing too, the start reports it
        }
    }

    /// The bytes of an ELF file that tell class, byte order and machine. Source: elf(5), `e_ident` and `e_machine`.
    private static let elfHeadBytes = 20
    private static let elfFields = [0..<6, 18..<20].flatMap(Array.init)

    private static func processors() -> String {
        do {
            let file = try OpenFile(reading: "/proc/cpuinfo")
            return String(
                decoding: file.bytes(from: 0, count: processorBytesMax), as: UTF8.self)
        } catch {
            return ""  // without /proc the processor's features are unknown
        }
    }
}

/// The empty stand-ins for libraries that no photo may reach, which `ops/release` makes beside the program of children.
///
/// libvips and libavcodec are linked to many libraries that Minilab never calls. A child that finds their stand-ins first starts in two
/// thirds of the time and holds 12 MB less at its start (CHILDREN.md, "A start").
enum UnusedLibraries {
    static let folderName = "minilab-render.unused"
    /// The file in it that names the libraries for which the stand-ins are made: path, bytes and time of the last write, in lines.
    static let listName = "for"
    /// The most bytes of that file: a hundred paths.
    private static let listBytesMax = 16 << 10

    /// Returns the folder beside a program, if it is made for the libraries of this machine.
    ///
    /// After an update, one of these may refer to symbols that a stand-in does not have, and no child would start.
    static func folder(beside executable: FilePath) -> FilePath? {
        // Texts need libraries for which there are stand-ins, and few others.
        if executable.lastComponent?.string == RenderProgram.textName { return nil }
        let folder = executable.removingLastComponent().appending(folderName)
        let list: [UInt8]
        do {
            list = try OpenFile(reading: folder.appending(listName).string)
                .bytes(from: 0, count: listBytesMax)
        } catch {
            return nil  // none are installed, as for programs that `swift build` has made
        }
        let lines = String(decoding: list, as: UTF8.self).split(separator: "\n")
        return !lines.isEmpty && list.count < listBytesMax && lines.allSatisfy(isTrue)
            ? folder : nil
    }

    private static func isTrue(_ line: Substring) -> Bool {
        let fields = line.split(separator: " ").map(String.init)
        var status = stat()
        return fields.count == 3 && stat(fields[0], &status) == 0
            && fields[1...] == ["\(status.st_size)", "\(status.st_mtim.tv_sec)"]
    }
}
