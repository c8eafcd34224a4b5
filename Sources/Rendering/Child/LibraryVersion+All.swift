import CDeflate
import Codecs
import Glibc
import JPEG
import RenderProtocol

extension LibraryVersion {
    /// The versions of the libraries that decode and encode photos in this process, without libraries that are not loaded.
    static var all: [LibraryVersion] {
        let reported = queries.compactMap { library in
            library.version.map { LibraryVersion(name: library.name, version: $0) }
        }
        return
            (reported + [
                LibraryVersion(name: "libavcodec", version: VideoDecoder.version),
                LibraryVersion(name: "libjpeg-turbo", version: JPEGLibrary.version),
                LibraryVersion(name: "libdeflate", version: LIBDEFLATE_VERSION_STRING),
            ]).sorted { $0.name < $1.name }
    }

    /// Libraries that report their version at run time. Some are loaded with libvips' modules, so the executable does not link
    /// them.
    private static let queries = [
        Query("libvips", "libvips.so.42", "vips_version_string"),
        Query("libheif", "libheif.so.1", "heif_get_version"),
        Query("libaom", "libaom.so.3", "aom_codec_version_str"),
        Query("dav1d", "libdav1d.so.6", "dav1d_version"),
        Query("x265", "libx265.so.199", "x265_version_str", .variable),
        Query("libjxl", "libjxl.so.0.7", "JxlEncoderVersion", .number(in: 1000)),
        Query("libwebp", "libwebp.so.7", "WebPGetEncoderVersion", .number(in: 256)),
        Query("libpng", "libpng16.so.16", "png_get_libpng_ver"),
        Query("libtiff", "libtiff.so.6", "TIFFGetVersion"),
        Query("LibRaw", "libraw_r.so.20", "libraw_version"),
        Query("zlib", "libz.so.1", "zlibVersion"),
    ]

    /// A loaded library, and the symbol that reports its version.
    private struct Query {
        /// The kind of symbol.
        enum Kind {
            /// A function that accepts a pointer that may be nil, or no argument, and returns a text.
            case text
            /// A pointer to a text.
            case variable
            /// A function that returns major, minor and patch as the digits of one number.
            case number(in: UInt32)
        }

        let name, file, symbol: String
        let kind: Kind

        init(_ name: String, _ file: String, _ symbol: String, _ kind: Kind = .text) {
            (self.name, self.file, self.symbol, self.kind) = (name, file, symbol, kind)
        }

        /// The reported version, or nil if the library is not loaded.
        var version: String? {
            guard let library = dlopen(file, RTLD_NOLOAD | RTLD_LAZY) else { return nil }
            defer { dlclose(library) }
            guard let found = dlsym(library, symbol) else { return nil }
            switch kind {
            case .text:
                typealias Function = @convention(c) (OpaquePointer?) -> UnsafePointer<CChar>?
                return unsafeBitCast(found, to: Function.self)(nil).flatMap(Self.firstLine)
            case .variable:
                return found.load(as: UnsafePointer<CChar>?.self).flatMap(Self.firstLine)
            case .number(let base):
                typealias Function = @convention(c) () -> UInt32
                let number = unsafeBitCast(found, to: Function.self)()
                return "\(number / base / base).\(number / base % base).\(number % base)"
            }
        }

        /// Returns the version in the first line of a text. libtiff's text has a name before the version and a copyright on the
        /// lines after it.
        private static func firstLine(_ text: UnsafePointer<CChar>) -> String? {
            String(cString: text).split(separator: "\n").first?
                .split(separator: " ").last.map(String.init)
        }
    }
}
