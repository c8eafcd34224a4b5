import CVips
import Glibc

/// The parts of libvips that are separate module files.
///
/// By default libvips loads all installed modules, including ImageMagick, Poppler and OpenSlide, each larger than libvips and able
/// to read formats that Minilab rejects. So libvips searches an empty place, and then the needed modules are loaded.
enum VipsModules {
    /// HEIC and AVIF; JPEG XL.
    private static let used = ["vips-heif", "vips-jxl"]

    /// Prevents libvips from loading modules when it starts.
    static func loadNone() {
        // libvips searches below `lib` of this path (vips_guess_libdir).
        setenv("VIPSHOME", "/nowhere", 1)
    }

    /// Loads the needed modules. A module that is not installed is either built into libvips, or its format is not available.
    ///
    /// - Returns: the reason why an installed module cannot be loaded.
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
        loadCodecs()
        return nil
    }

    /// Loads libheif's encoders and decoders, which may be files of their own: a confined process can load none when a photo needs
    /// them. One that cannot be loaded is missing when its format is tried.
    private static func loadCodecs() {
        if let function = dlsym(nil, "heif_init") { minilab_heif_init(function) }
    }

    /// The folder of the modules, beside the library itself.
    private static let folder: String? = {
        var found = minilab_symbol()
        guard minilab_find_symbol(dlsym(nil, "vips_init"), &found) != 0, let file = found.file
        else { return nil }
        let library = String(cString: file).split(separator: "/").dropLast().joined(separator: "/")
        return "/\(library)/vips-modules-\(VIPS_MAJOR_VERSION).\(VIPS_MINOR_VERSION)"
    }()
}
