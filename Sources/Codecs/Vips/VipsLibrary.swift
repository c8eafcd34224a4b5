import CCodecs
import CVips
import Glibc
import Synchronization

/// libvips, started once per process.
public enum VipsLibrary {
    /// The settings of libvips.
    public struct Settings: Sendable {
        /// Threads that compute pixels, 1 to 1024.
        public var threads: Int
        /// Lines of a tile. libvips keeps some multiples of it per stage of a pipeline; its default of 128 takes four times the
        /// memory of 32.
        public var tileHeight: Int
        /// Whether leaked objects are listed at the end of the process, for tests.
        public var reportsLeaks: Bool

        public init(threads: Int = 1, tileHeight: Int = 32, reportsLeaks: Bool = false) {
            self.threads = threads
            self.tileHeight = tileHeight
            self.reportsLeaks = reportsLeaks
        }
    }

    /// Starts libvips; only the first call in a process has an effect.
    ///
    /// Caching is disabled, since each photo is read once, and operations that libvips calls untrusted (loaders that are not
    /// fuzzed) are blocked. `settings` replaces `VIPS_CONCURRENCY`, which is not read.
    ///
    /// - Throws: an error if libvips does not start; later calls throw the same.
    public static func start(_ settings: Settings = Settings()) throws(VipsError) {
        firstSettings.withLock { $0 = $0 ?? settings }
        if let error = started { throw error }
    }

    /// Clears libvips' error buffer, so that the next error contains only its own message.
    ///
    /// libvips has one error buffer for the process, and some loaders leave messages in it although they succeeded.
    static func clearErrors() { _ = takeErrors() }

    /// Empties libvips' error buffer, which all threads of the process share, and returns its messages, one a line. Losses among them
    /// are noted for ``takeLoss()``: nothing else may empty the buffer.
    ///
    /// `vips_error_buffer_copy` copies and clears under libvips' lock, so that another thread's message is not torn.
    static func takeErrors() -> String {
        guard let buffer = vips_error_buffer_copy() else { return "" }
        defer { g_free(buffer) }
        minilab_vips_note_errors(buffer)
        return String(cString: buffer)
    }

    /// Returns what libvips said of the first pixels that it lost since the last call, though it reported success; nil if it lost none.
    public static func takeLoss() -> String? {
        clearErrors()
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { text in
            guard let start = text.baseAddress,
                minilab_vips_take_loss(start, text.count) != 0
            else { return nil }
            return String(cString: start)
        }
    }

    /// Makes the process exit with this code, instead of by a signal, if GLib cannot allocate memory or threads.
    public static func endWithoutMemory(by exitCode: Int32) { minilab_on_glib_error(exitCode) }

    /// Tests the exit for lack of memory: requests an impossible allocation from GLib.
    public static func exhaustMemory(_ byteCount: Int) { g_free(g_malloc(gsize(byteCount))) }

    /// Threads that compute pixels. A change does not affect pixels; tests change it.
    public static var threads: Int {
        get { Int(vips_concurrency_get()) }
        set { vips_concurrency_set(Int32(newValue)) }
    }

    /// Rows of the tiles in which pixels are computed. A change does not affect pixels, but must not happen while any are computed.
    public static var tileHeight: Int {
        get { tileRows.withLock { $0 } ?? Settings().tileHeight }
        set {
            guard newValue != tileHeight else { return }
            // libvips accepts any number; an unknown option is reported at the start.
            _ = setTileHeight(newValue)
        }
    }

    private static let tileRows = Mutex<Int?>(nil)
    private static let firstSettings = Mutex<Settings?>(nil)

    // A static let is initialised once, by one thread.
    private static let started: VipsError? = {
        let settings = firstSettings.withLock { $0 } ?? Settings()
        VipsModules.loadNone()
        guard minilab_vips_init("minilab") == 0 else {
            return .drainingBuffer(operation: "vips_init")
        }
        if let error = VipsModules.load() { return error }
        vips_concurrency_set(Int32(settings.threads))
        vips_cache_set_max(0)
        vips_cache_set_max_mem(0)
        vips_cache_set_max_files(0)
        vips_block_untrusted_set(1)
        for name in blocked { vips_operation_block_set(name, 1) }
        for name in allowed { vips_operation_block_set(name, 0) }
        vips_leak_set(settings.reportsLeaks ? 1 : 0)
        minilab_vips_note_losses()
        return setTileHeight(settings.tileHeight)
    }()

    /// Classes that run large foreign libraries or other languages. libvips calls them untrusted too; they are listed so that the
    /// opinion of another version does not matter.
    private static let blocked = [
        "VipsForeignLoadMagick", "VipsForeignSaveMagick", "VipsForeignLoadSvg",
        "VipsForeignLoadPdf", "VipsForeignLoadOpenslide",
    ]

    /// JPEG XL, which libvips calls untrusted because libjxl is young. The render child confines it like the others.
    private static let allowed = ["VipsForeignLoadJxl", "VipsForeignSaveJxl"]

    private static func setTileHeight(_ lines: Int) -> VipsError? {
        // GLib edits the array in place and frees removed elements, so g_strsplit allocates it.
        var vector = g_strsplit("minilab --vips-tile-height=\(lines)", " ", -1)
        defer { g_strfreev(vector) }
        var error: UnsafeMutablePointer<GError>?
        guard minilab_vips_options(&vector, &error) != 0 else {
            defer { g_error_free(error) }
            return VipsError(
                operation: "vips_init", arguments: "tile-height=\(lines)",
                text: error.map { String(cString: $0.pointee.message) } ?? "unknown option")
        }
        tileRows.withLock { $0 = lines }
        return nil
    }
}

extension VipsLibrary {
    /// Maps the memory into which liborc compiles. Without it, libvips shrinks pictures a quarter slower.
    ///
    /// liborc maps it, executable, for its first program, and keeps it: 64 KB, enough for all programs in use at a time, since
    /// libvips frees them with their operation. A process may be denied executable memory after this. Nothing is computed and no
    /// thread is started.
    public static func reserveVectorCode() throws(VipsError) {
        let picture: Image = try Operation.run(
            "black", [("width", .int(32)), ("height", .int(32)), ("bands", .int(3))])
        _ =
            try Operation.run("reducev", [("in", .image(picture)), ("vshrink", .double(2))])
            as Image
    }
}

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

    private static let folder: String? = {
        var found = minilab_symbol()
        guard minilab_find_symbol(dlsym(nil, "vips_init"), &found) != 0, let file = found.file
        else { return nil }
        let library = String(cString: file).split(separator: "/").dropLast().joined(separator: "/")
        return "/\(library)/vips-modules-\(VIPS_MAJOR_VERSION).\(VIPS_MINOR_VERSION)"
    }()
}

/// An error of libvips: the operation, its arguments, and libvips' message.
public struct VipsError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The operation's nickname, such as `jpegload`.
    public let operation: String
    public let arguments: String
    /// libvips' message, trimmed; never empty.
    public let text: String

    init(operation: String, arguments: String, text: String) {
        self.operation = operation
        self.arguments = arguments
        self.text = text
    }

    /// Takes libvips' messages from its buffer.
    static func drainingBuffer(operation: String, arguments: String = "") -> VipsError {
        let text = VipsLibrary.takeErrors().split(whereSeparator: \.isNewline)
            .joined(separator: "; ")
        return VipsError(
            operation: operation, arguments: arguments,
            text: text.isEmpty ? noReason : text)
    }

    /// The message if libvips has none.
    public static let noReason = "libvips gave no reason"

    /// The message for a nickname that no operation of this libvips has.
    static let noSuchOperation = "libvips has no operation of this name"

    public var description: String {
        arguments.isEmpty ? "\(operation): \(text)" : "\(operation)(\(arguments)): \(text)"
    }
}
