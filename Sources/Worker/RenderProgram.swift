import Files
public import SystemPackage

/// The executables that render: of those that are installed, the one for this machine's processor.
///
/// Both are built from the same files and make the same bytes: Swift joins no multiplication with an addition unless it is told to.
public enum RenderProgram {
    /// Runs on every processor of its kind.
    static let name = "minilab-render"
    /// The same, compiled for level 3 of the x86-64 psABI, which has registers of 32 bytes: a usual look takes a third less time
    /// (`Sources/Pixels/MEASURED.md`).
    static let wideName = "minilab-render-x86-64-v3"

    /// Level 3 beyond the levels before it, as Linux calls it: psABI, table 3.1; `abm` is LZCNT.
    private static let features: Set = [
        "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave",
    ]
    /// Of the kernel's file, which has a paragraph for each processor: enough for the first.
    private static let processorBytesMax = 16_384

    /// The one in a folder for this machine. Where there is but one it is taken.
    public static func path(in folder: FilePath) -> FilePath {
        let wide = folder.appending(wideName)
        guard hasFile(wide), isWide(processors()) else { return folder.appending(name) }
        return wide
    }

    /// Whether all of level 3 is there.
    ///
    /// - Parameter processors: what proc(5) has in `/proc/cpuinfo`, of which the first processor counts.
    static func isWide(_ processors: String) -> Bool {
        let line = processors.split(separator: "\n").first { $0.hasPrefix("flags") }
        return features.isSubset(of: Set((line ?? "").split(separator: " ").map(String.init)))
    }

    private static func hasFile(_ path: FilePath) -> Bool {
        do {
            _ = try OpenFile(reading: path.string)
            return true
        } catch {
            return false  // the other one is there, or a sentence says later that none is
        }
    }

    private static func processors() -> String {
        do {
            let file = try OpenFile(reading: "/proc/cpuinfo")
            return String(
                decoding: file.bytes(from: 0, count: processorBytesMax), as: UTF8.self)
        } catch {
            return ""  // without /proc nothing is known of the processor
        }
    }
}
