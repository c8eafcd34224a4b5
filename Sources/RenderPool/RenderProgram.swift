import Files
public import SystemPackage

/// The executables that render. The one for this machine's processor is chosen among those that are installed.
///
/// Both are built from the same files and produce the same bytes: by default Swift does not fuse a multiplication
/// and an addition.
public enum RenderProgram {
    /// The executable that runs on every processor of the architecture.
    static let name = "minilab-render"
    /// The same program, compiled for level 3 of the x86-64 psABI, which has registers of 32 bytes. A usual look
    /// takes a third less time (`Sources/Pixels/MEASURED.md`).
    static let wideName = "minilab-render-x86-64-v3"

    /// The features that level 3 adds to the lower levels, by Linux's names: psABI, table 3.1; `abm` is LZCNT.
    private static let features: Set = [
        "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave",
    ]
    /// The bytes read of `/proc/cpuinfo`. The file has a paragraph for each processor; this is enough for the first
    /// one.
    private static let processorBytesMax = 16_384

    /// Returns the executable in a folder for this machine. If only the basic one is installed, returns that.
    public static func path(in folder: FilePath) -> FilePath {
        let wide = folder.appending(wideName)
        return hasFile(wide) && missing(in: processors()).isEmpty ? wide : folder.appending(name)
    }

    /// Returns the level of the instructions that a renderer uses, and why it is not a higher one.
    public static func kernels(of executable: FilePath) -> String {
        #if arch(x86_64)
            if executable.lastComponent?.string == wideName { return "x86-64-v3 (AVX2)" }
            let missing = missing(in: processors())
            guard missing.isEmpty else {
                return "x86-64, since this processor lacks \(missing.joined(separator: ", "))"
            }
            return hasFile(executable.removingLastComponent().appending(wideName))
                ? "x86-64, since the settings name it"
                : "x86-64, since \(wideName) is not installed beside it"
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

    private static func hasFile(_ path: FilePath) -> Bool {
        do {
            _ = try OpenFile(reading: path.string)
            return true
        } catch {
            return false  // not installed; if the basic one is missing too, the start reports it
        }
    }

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
