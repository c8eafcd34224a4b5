import Edits
import Files
import HTTPTypes
import Hummingbird
import Library

/// A file of an asset that a response will send.
struct AssetDownload: Sendable {
    let tag: EntityTag
    let mediaType: String
    let caching: Caching
    /// The permanent URL of these bytes; nil if the request's own URL is permanent.
    var location: String?
    /// The file name under which a browser saves it; nil for pictures that the browser displays.
    var fileName: String?
    let open: @Sendable () async throws -> OpenFile

    /// The time that a response may be reused. Only the caller may reuse it, because other callers have other keys.
    enum Caching: String, Sendable {
        /// The URL names a version, which never changes.
        case forEver = "private, max-age=31536000, immutable"
        /// Another version may become the current one.
        case asked = "private, no-cache"
    }

    // MARK: Requested files

    /// Finds an asset's original. The original is never written to, so its length and its modification time identify
    /// its bytes.
    static func original(_ call: Call, _ asset: AssetPath) async throws -> AssetDownload {
        try await original(call, asset, caching: .asked)
    }

    private static func original(
        _ call: Call, _ asset: AssetPath, caching: Caching, location: String? = nil
    ) async throws -> AssetDownload {
        let file = try await call.parts.library.open(.original(asset))
        let tag = try await offPool { () throws(Failure) in
            // The files of a bucket library are local copies, so their modification times are those of this machine.
            if let known = file.sha256 { return known }
            return try file.stamp(getsLinks: true).text
        }
        let name =
            asset.string.utf8.split(separator: UInt8(ascii: "/")).last ?? asset.string.utf8[...]
        return AssetDownload(
            tag: EntityTag(tag), mediaType: "application/octet-stream", caching: caching,
            location: location, fileName: String(decoding: name, as: UTF8.self), open: { file })
    }

    /// Finds the render that readers of a version see.
    static func render(_ call: Call, _ asset: AssetPath) async throws -> AssetDownload {
        let shown = try await Shown(call, asset, route: "/v1/renders/")
        guard let version = shown.version, let content = version.content else {
            return try await original(
                call, asset, caching: shown.caching, location: shown.location)
        }
        let library = call.parts.library
        return AssetDownload(
            tag: EntityTag(content.render.sha256), mediaType: content.render.mediaType,
            caching: shown.caching, location: shown.location,
            open: { try await library.open(library.shownFile(of: version, asset)) })
    }

    static func preview(_ call: Call, _ asset: AssetPath) async throws -> AssetDownload {
        let shown = try await Shown(call, asset, route: "/v1/previews/")
        let side = try call.number("side", in: ContractLimits.previewSideRange)
        let previews = shown.version?.content?.previews ?? []
        let found =
            side == nil
            ? previews.min { $0.longestSide < $1.longestSide }
            : previews.first { $0.longestSide == side }
        guard let version = shown.version, let image = found?.image else {
            try await call.believeAbsence()
            let sides = previews.map { "\($0.longestSide)" }.joined(separator: ", ")
            throw Problem(
                .notFound,
                "This version of \(asset.string.debugDescription) has no such preview"
                    + (sides.isEmpty ? ", and no other." : "; it has \(sides)."))
        }
        let library = call.parts.library
        let file = try StoredFile(image.name, of: version, asset)
        return AssetDownload(
            tag: EntityTag(image.sha256), mediaType: image.mediaType, caching: shown.caching,
            location: shown.location.map { side == nil ? $0 : $0 + "&side=\(side ?? 0)" },
            open: { try await library.open(file) })
    }

    /// Finds a rendition of a version.
    ///
    /// Its URL is permanent for a version, although a job may make another rendition of that name: a producer who wants
    /// both gives them two names.
    static func rendition(_ call: Call, _ asset: AssetPath) async throws -> AssetDownload {
        let name = try call.renditionName
        let shown = try await Shown(call, asset, route: "/v1/renditions/\(name)/")
        let library = call.parts.library
        guard let version = shown.version.flatMap({ VersionName($0.version) }) else {
            try await call.believeAbsence()
            throw Problem(
                .notFound, "The original of \(asset.string.debugDescription) has no renditions.")
        }
        let list = try await library.sizes(of: version, asset)
        guard let found = list.renditions[name] else {
            try await call.believeAbsence()
            if list.gone[name] != nil {
                throw Problem.missingRendition(
                    name, of: version, asset, "was removed by a rule of gc, or was lost")
            }
            throw Problem(
                .notFound,
                "This version of \(asset.string.debugDescription) has no rendition \(name)"
                    + (list.names.isEmpty
                        ? ", and no other." : "; it has \(list.names.joined(separator: ", ")).")
            )
        }
        let file = StoredFile.rendition(asset, version: version, file: found.file)
        return AssetDownload(
            tag: EntityTag(found.made.sha256), mediaType: found.made.mediaType,
            caching: shown.caching, location: shown.location,
            open: {
                var open: OpenFile?
                var bytes: Int?
                do throws(Failure) {
                    open = try await library.open(file)
                    bytes = try await offPool { [open] () throws(Failure) in try open?.length() }
                } catch {
                    bytes = try await library.info(of: file).bytes
                    // A file that is there and cannot be opened.
                    guard bytes != found.made.bytes else { throw error }
                }
                // In a folder another rendition takes its place under the same name.
                guard try await library.sizes(of: version, asset).renditions[name] == found else {
                    throw Failure(.ioFailure, "the rendition \(name) was replaced now. Ask again.")
                }
                guard let open, bytes == found.made.bytes else {
                    try await call.believeAbsence()
                    throw Problem.missingRendition(
                        name, of: version, asset,
                        "is listed with \(found.made.bytes) bytes, and its file "
                            + (bytes.map { "has \($0)" } ?? "does not exist"))
                }
                return open
            })
    }

    private struct Shown {
        /// The version; nil for the original.
        let version: Provenance?
        let caching: Caching
        let location: String?

        init(_ call: Call, _ asset: AssetPath, route: String) async throws {
            let library = call.parts.library
            func url(_ version: String) -> String { "\(route)\(asset.urlPath)?version=\(version)" }
            switch call.query("version") {
            case "original"?: (version, caching, location) = (nil, .asked, nil)
            case let text?:
                let found = try await library.version(text, of: asset)
                version = found
                // A revision number or a draft can refer to another version later.
                caching = text == found.version ? .forEver : .asked
                location = text == found.version ? nil : url(found.version)
            case nil:
                version = try await library.state(of: asset).current
                // Where the library is away, no asset has a version, and its original is not what readers are to see.
                if version == nil { try await library.checkPresence() }
                caching = .asked
                location = url(version?.version ?? "original")
            }
        }
    }

    // MARK: Response

    /// Returns the response to a request: the whole file, a part of it, or 304 if the client has it.
    func response(to call: Call) async throws -> Response {
        let request = call.request
        var headers: HTTPFields = [
            .eTag: tag.description, .cacheControl: caching.rawValue, .acceptRanges: "bytes",
            .contentType: mediaType, .xContentTypeOptions: "nosniff",
            .contentSecurityPolicy: "sandbox; default-src 'none'",
        ]
        headers[.contentLocation] = location
        headers[.contentDisposition] = fileName.map(Self.disposition)
        switch Preconditions(
            ifMatch: request.headers[values: .ifMatch],
            ifNoneMatch: request.headers[values: .ifNoneMatch]
        ).verdict(tag: tag, isThere: true, isReading: true) {
        case .proceed: break
        case .notModified: return Response(status: .notModified, headers: headers)
        case .failed:
            throw Problem(.preconditionFailed, "The asset's bytes are not those of If-Match.")
        }
        let file = try await open()
        let size = try await offPool { () throws(Failure) in try file.length() }
        let range: Range<Int>
        // RFC 9110, 14.2 defines no ranges for HEAD.
        let field = request.method == .get ? request.headers[.range] : nil
        switch ByteRange(field, ifRange: request.headers[.ifRange], tag: tag, size: size) {
        case .whole: range = 0..<size
        case .part(let part):
            range = part
            headers[.contentRange] = "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(size)"
        case .unsatisfiable:
            var problem = Problem(
                .unsatisfiableRange, "The range begins behind the file's \(size) bytes.")
            problem.headers[.contentRange] = "bytes */\(size)"
            throw problem
        }
        headers[.contentLength] = "\(range.count)"
        return Response(
            status: headers[.contentRange] == nil ? .ok : .partialContent, headers: headers,
            body: request.method == .head
                ? ResponseBody() : BoundedDownload(file, range, over: call.channel).body)
    }

    /// Returns the `Content-Disposition` field. The file name is percent-encoded (RFC 6266), so that all clients read the same
    /// name.
    private static func disposition(_ name: String) -> String {
        "attachment; filename*=UTF-8''" + name.percentEncoded()
    }
}
