import CVips
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

        /// Makes settings.
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
    public static func clearErrors() { vips_error_clear() }

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
