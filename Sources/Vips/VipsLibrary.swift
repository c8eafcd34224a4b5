import CVips
import Synchronization

/// libvips, started once for the process.
public enum VipsLibrary {
    /// How libvips runs.
    public struct Settings: Sendable {
        /// Threads that compute pixels, 1 to 1024.
        public var threads: Int
        /// Lines of a tile. libvips keeps some multiples of it per stage of a pipeline; its own
        /// default of 128 costs four times the memory of 32.
        public var tileHeight: Int
        /// Whether what was never freed is listed at the end of the process, for tests.
        public var reportsLeaks: Bool

        /// Makes settings.
        public init(threads: Int = 1, tileHeight: Int = 32, reportsLeaks: Bool = false) {
            self.threads = threads
            self.tileHeight = tileHeight
            self.reportsLeaks = reportsLeaks
        }
    }

    /// Starts libvips; only the first call in a process has an effect.
    ///
    /// Nothing is cached, since each photo is seen once, and operations that libvips calls untrusted
    /// (loaders that are not fuzzed) are blocked. `VIPS_CONCURRENCY` is not read: `settings` says it.
    ///
    /// - Throws: when libvips does not start; later calls throw the same.
    public static func start(_ settings: Settings = Settings()) throws(VipsError) {
        firstSettings.withLock { $0 = $0 ?? settings }
        if let error = started { throw error }
    }

    /// Forgets what libvips said so far, so that the next error has its own words only.
    ///
    /// libvips has one error buffer for the process, and some loaders leave words in it although they
    /// got on well.
    public static func forgetErrors() { vips_error_clear() }

    /// Ends the process with this code, not by a signal, when GLib cannot go on for want of memory or threads.
    public static func endWithoutMemory(by exitCode: Int32) { minilab_on_glib_error(exitCode) }

    /// For tests of that: asks GLib for memory that nobody has.
    public static func exhaustMemory(_ byteCount: Int) { g_free(g_malloc(gsize(byteCount))) }

    /// Threads that compute pixels. Changing it changes no pixel; tests do.
    public static var threads: Int {
        get { Int(vips_concurrency_get()) }
        set { vips_concurrency_set(Int32(newValue)) }
    }

    /// Rows of the tiles in which pixels are computed. Changing it changes no pixel; it must not be changed while
    /// any are computed.
    public static var tileHeight: Int {
        get { tileRows.withLock { $0 } ?? Settings().tileHeight }
        set {
            guard newValue != tileHeight else { return }
            // libvips takes any number; an option that it does not know shows at the start.
            _ = setTileHeight(newValue)
        }
    }

    private static let tileRows = Mutex<Int?>(nil)
    private static let firstSettings = Mutex<Settings?>(nil)

    // A static let is made once, by one thread, whoever comes first.
    private static let started: VipsError? = {
        let settings = firstSettings.withLock { $0 } ?? Settings()
        VipsModules.loadNone()
        guard minilab_vips_init("minilab") == 0 else { return .taking(operation: "vips_init") }
        if let error = VipsModules.load() { return error }
        vips_concurrency_set(Int32(settings.threads))
        vips_cache_set_max(0)
        vips_cache_set_max_mem(0)
        vips_cache_set_max_files(0)
        vips_block_untrusted_set(1)
        for name in blocked { vips_operation_block_set(name, 1) }
        for name in allowed { vips_operation_block_set(name, 0) }
        vips_leak_set(settings.reportsLeaks ? 1 : 0)
        return setTileHeight(settings.tileHeight)
    }()

    /// Classes that run large foreign libraries or other languages. libvips calls them untrusted too;
    /// they are named so that another version's opinion changes nothing.
    private static let blocked = [
        "VipsForeignLoadMagick", "VipsForeignSaveMagick", "VipsForeignLoadSvg",
        "VipsForeignLoadPdf", "VipsForeignLoadOpenslide",
    ]

    /// JPEG XL, which libvips calls untrusted since libjxl is young. The render child confines it as it
    /// does the others.
    private static let allowed = ["VipsForeignLoadJxl", "VipsForeignSaveJxl"]

    private static func setTileHeight(_ lines: Int) -> VipsError? {
        // GLib edits the array in place and frees what it takes: g_strsplit makes one of its own.
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
