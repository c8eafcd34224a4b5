import CVips
import Glibc

/// The parts of libvips that lie in files of their own.
///
/// By itself libvips loads all that are installed: with them come ImageMagick, Poppler and OpenSlide, each larger
/// than libvips and open to formats that we refuse. So it is shown a place without any, and then given those that
/// we use.
enum VipsModules {
    /// HEIC and AVIF; JPEG XL.
    private static let used = ["vips-heif", "vips-jxl"]

    /// Keeps libvips from loading any when it starts.
    static func loadNone() {
        // It looks below `lib` of this (vips_guess_libdir).
        setenv("VIPSHOME", "/nowhere", 1)
    }

    /// Loads those that we use. Those that are not installed are built into libvips, or the formats are not there.
    ///
    /// - Returns: why one that is there cannot be loaded.
    static func load() -> VipsError? {
        guard let folder else { return nil }
        for name in used {
            let path = "\(folder)/\(name).so"
            guard access(path, F_OK) == 0 else { continue }
            guard let module = g_module_open(path, G_MODULE_BIND_LAZY) else {
                return VipsError(
                    operation: "vips_init", arguments: path,
                    text: g_module_error().map { String(cString: $0) } ?? "it cannot be loaded")
            }
            g_module_make_resident(module)
        }
        return nil
    }

    /// Where modules are: beside the library itself.
    private static let folder: String? = {
        var found = minilab_symbol()
        guard minilab_find_symbol(dlsym(nil, "vips_init"), &found) != 0, let file = found.file
        else { return nil }
        let library = String(cString: file).split(separator: "/").dropLast().joined(separator: "/")
        return "/\(library)/vips-modules-\(VIPS_MAJOR_VERSION).\(VIPS_MINOR_VERSION)"
    }()
}
