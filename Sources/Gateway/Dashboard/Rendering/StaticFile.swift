import Edits

/// A static file of the pages: its bytes, and the URL under which they never change.
package struct StaticFile: Sendable {
    package let name: String
    package let bytes: [UInt8]
    package let contentType: String
    /// The first 16 hexadecimal digits of the SHA-256 of its bytes.
    package let digest: String
    /// The strong entity tag, quoted as in the header `ETag`.
    package var etag: String { "\"\(digest)\"" }
    /// The URL, which contains the digest. Serve it with `immutable`.
    package var path: String { Links.file(name, digest: digest) }

    init(_ name: String, _ bytes: [UInt8], _ contentType: String) {
        self.name = name
        self.bytes = bytes
        self.contentType = contentType
        digest = SHA256.hash(data: bytes).prefix(8).hex
    }

    private static let script = "text/javascript; charset=utf-8"

    static let style = StaticFile(
        "style.css", PackageResources.style_css, "text/css; charset=utf-8")
    static let icon = StaticFile("icon.svg", PackageResources.icon_svg, "image/svg+xml")
    static let liveName = "live.js"
    static let sliderName = "slider.js"
    /// The JavaScript modules of all pages.
    static let everywhere = ["keys.js", "forms.js"]

    /// All static files.
    package static let all = [
        style, icon,
        StaticFile(liveName, PackageResources.live_js, script),
        StaticFile(sliderName, PackageResources.slider_js, script),
        StaticFile("keys.js", PackageResources.keys_js, script),
        StaticFile("forms.js", PackageResources.forms_js, script),
    ]

    static func named(_ name: String) -> StaticFile? { all.first { $0.name == name } }
}

/// The gateway's interface to the dashboard.
package enum Dashboard {
    /// Returns a static file; nil if there is none with this name.
    package static func file(named name: String) -> StaticFile? { StaticFile.named(name) }

    /// The value of `Content-Security-Policy` that all pages support.
    package static let contentSecurityPolicy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
        + "require-trusted-types-for 'script'; trusted-types minilab"
}
