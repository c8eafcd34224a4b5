import Edits
package import Mustache

/// The templates, parsed once.
enum Templates {
    /// - Parameter name: the name of a file in `Templates/`.
    static func render(_ name: String, _ view: some View) -> String {
        guard let text = library.render(view, withTemplate: name) else {
            preconditionFailure("There is no template \(name).mustache.")
        }
        return text
    }

    private static let library: MustacheLibrary = {
        MustacheContentTypes.register(Escaping(), named: Escaping.name)
        var library = MustacheLibrary()
        for (name, bytes) in texts {
            var text = String(decoding: bytes, as: UTF8.self)
            // The final line end of a file would become a space between a partial and the text after it.
            if text.hasSuffix("\n") { text.removeLast() }
            do {
                try library.register(
                    "{{% CONTENT_TYPE:\(Escaping.name)}}" + text, named: name)
            } catch {
                preconditionFailure("The template \(name).mustache is wrong: \(error)")
            }
        }
        return library
    }()
}

extension Templates {
    /// The contents of `Templates/`, by name.
    static let texts: [String: [UInt8]] = [
        "asset": PackageResources.asset_mustache,
        "audit": PackageResources.audit_mustache,
        "batch": PackageResources.batch_mustache,
        "batch-failures": PackageResources.batch_failures_mustache,
        "batch-progress": PackageResources.batch_progress_mustache,
        "batch-row": PackageResources.batch_row_mustache,
        "batch-table": PackageResources.batch_table_mustache,
        "batches": PackageResources.batches_mustache,
        "batches-open": PackageResources.batches_open_mustache,
        "dead": PackageResources.dead_mustache,
        "dead-row": PackageResources.dead_row_mustache,
        "doctor": PackageResources.doctor_mustache,
        "facts": PackageResources.facts_mustache,
        "find": PackageResources.find_mustache,
        "fragment": PackageResources.fragment_mustache,
        "job": PackageResources.job_mustache,
        "job-attempts": PackageResources.job_attempts_mustache,
        "job-state": PackageResources.job_state_mustache,
        "job-timeline": PackageResources.job_timeline_mustache,
        "keys": PackageResources.keys_mustache,
        "layout": PackageResources.layout_mustache,
        "limits": PackageResources.limits_mustache,
        "moment": PackageResources.moment_mustache,
        "now": PackageResources.now_mustache,
        "now-batches": PackageResources.now_batches_mustache,
        "now-flows": PackageResources.now_flows_mustache,
        "now-funnel": PackageResources.now_funnel_mustache,
        "now-health": PackageResources.now_health_mustache,
        "now-running": PackageResources.now_running_mustache,
        "now-sparks": PackageResources.now_sparks_mustache,
        "now-workers": PackageResources.now_workers_mustache,
        "problem": PackageResources.problem_mustache,
        "replay": PackageResources.replay_mustache,
        "replay-preview": PackageResources.replay_preview_mustache,
        "replay-progress": PackageResources.replay_progress_mustache,
        "secret": PackageResources.secret_mustache,
        "selection": PackageResources.selection_mustache,
        "sign-in": PackageResources.sign_in_mustache,
        "signed-in": PackageResources.signed_in_mustache,
        "state": PackageResources.state_mustache,
        "step": PackageResources.step_mustache,
        "webhook": PackageResources.webhook_mustache,
        "webhooks": PackageResources.webhooks_mustache,
    ]
}

/// The escaping of text for HTML, in elements and in quoted attributes.
///
/// swift-mustache 2.1.1 escapes by characters. A quote followed by a combining accent is one character that differs
/// from a quote, so it stays unescaped, but it ends an attribute in a browser. This type escapes by bytes.
struct Escaping: MustacheContentType {
    /// The name by which templates select it.
    static let name = "ESCAPED"

    func escapeText(_ text: String) -> String { Self.escape(text) }

    static func escape(_ text: String) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count + 16)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "&"): bytes += "&amp;".utf8
            case UInt8(ascii: "<"): bytes += "&lt;".utf8
            case UInt8(ascii: ">"): bytes += "&gt;".utf8
            case UInt8(ascii: "\""): bytes += "&quot;".utf8
            case UInt8(ascii: "'"): bytes += "&#39;".utf8
            case UInt8(ascii: "`"): bytes += "&#96;".utf8
            // HTML forbids U+0000.
            case 0: bytes += "\u{FFFD}".utf8
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// The values of a template.
///
/// A nil field renders as empty text. Without this protocol, swift-mustache would search the enclosing views for a
/// field with the same name.
package protocol View: Sendable, MustacheParent {}

extension View {
    package func child(named name: String) -> Any? {
        for field in Mirror(reflecting: self).children where field.label == name {
            let value = Mirror(reflecting: field.value)
            guard value.displayStyle == .optional else { return field.value }
            return value.children.first?.value ?? Nothing()
        }
        return nil
    }
}

/// The value of a field that exists and is nil.
private struct Nothing: MustacheCustomRepresentation {
    var representation: Any? { nil }
}

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
    package static func file(named name: String) -> StaticFile? { StaticFile.named(name) }

    /// The value of `Content-Security-Policy` that all pages support.
    package static let contentSecurityPolicy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
        + "require-trusted-types-for 'script'; trusted-types minilab"
}
