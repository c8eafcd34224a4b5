import CDeflate
import Codecs
import Glibc
import RenderProtocol

extension LibraryVersion {
    /// The versions of the renderer and of the libraries that decode and encode photos in this process, without libraries that are
    /// not loaded.
    static var all: [LibraryVersion] {
        let reported = queries.compactMap { library in
            library.version.map { LibraryVersion(name: library.name, version: $0) }
        }
        return
            (reported + [
                LibraryVersion(name: LibraryVersion.renderer, version: Engine.version),
                LibraryVersion(name: "libavcodec", version: VideoDecoder.version),
                LibraryVersion(name: "libjpeg-turbo", version: JPEGLibrary.version),
                LibraryVersion(name: "libdeflate", version: LIBDEFLATE_VERSION_STRING),
            ]).sorted { $0.name < $1.name }
    }

    /// Libraries that report their version at run time. Some are loaded with libvips' modules, so the executable does not link
    /// them. None is found by its file: the number in the name differs from one Debian to the next.
    private static let queries = [
        Query("libvips", "vips_version_string"),
        Query("libheif", "heif_get_version"),
        Query("libde265", "de265_get_version"),
        Query("lcms2", "cmsGetEncodedCMMversion", .thousands),
        Query("libaom", "aom_codec_version_str"),
        Query("dav1d", "dav1d_version"),
        Query("x265", "x265_version_str", .variable),
        Query("libjxl", "JxlEncoderVersion", .number(in: 1000)),
        Query("libwebp", "WebPGetEncoderVersion", .number(in: 256)),
        Query("libpng", "png_get_libpng_ver"),
        Query("libtiff", "TIFFGetVersion"),
        Query("LibRaw", "libraw_version"),
        Query("zlib", "zlibVersion"),
    ]

    /// A loaded library, and the symbol that reports its version.
    private struct Query {
        /// The kind of symbol.
        enum Kind {
            /// A function that accepts a pointer that may be nil, or no argument, and returns a text.
            case text
            case variable
            /// A function that returns major, minor and patch as the digits of one number.
            case number(in: UInt32)
            /// A function that returns major × 1000 + minor × 10.
            case thousands
        }

        let name, symbol: String
        let kind: Kind

        init(_ name: String, _ symbol: String, _ kind: Kind = .text) {
            (self.name, self.symbol, self.kind) = (name, symbol, kind)
        }

        /// The reported version, or nil if the library is not loaded.
        var version: String? {
            guard let found = dlsym(nil, symbol) else { return nil }
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
            case .thousands:
                typealias Function = @convention(c) () -> CInt
                let number = unsafeBitCast(found, to: Function.self)()
                return "\(number / 1000).\(number % 1000 / 10)"
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
