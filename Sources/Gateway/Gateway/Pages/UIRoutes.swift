import AccessKeys
import Edits
import Dashboard
import Files
import FoundationEssentials
import HTTPTypes
import Hummingbird
import JobQueue
import Library
import NIOCore
import Operations

/// The routes of resources that pages load: static files, pictures of versions, the stream of live fragments.
enum UIRoutes {
    static let routes: [Route] = [
        Route(.get, "/ui/files/{digest}/{name}", .openPage, "A file of the pages.", handle: file),
        Route(
            .get, "/ui/pictures/{asset...}", .page(.read), "A small picture of a version.",
            handle: picture),
        Route(
            .get, "/ui/renditions/{name}/{asset...}", .page(.read), "A rendition of a version."
        ) { call in
            let asset = try call.asset
            return try await call.hidingPaths(of: asset) {
                try await AssetDownload.rendition(call, asset).response(to: call)
            }
        },
        Route(
            .get, Links.live, .page(.read), "The live parts of a page, as they change.",
            handle: live),
    ]

    /// The longest side of a picture, in pixels.
    private static let pictureSide = 1024
    /// The interval at which a page's live fragments are rendered again.
    private static let liveEvery: Duration = .seconds(1)

    private static func file(_ call: Call) async throws -> Response {
        let name = try call.parameter("name")
        guard let file = Dashboard.file(named: name), try call.parameter("digest") == file.digest
        else {
            throw Problem(.notFound, "There is no such file.")
        }
        return Response(
            status: .ok,
            headers: [
                .contentType: file.contentType, .eTag: file.etag,
                .cacheControl: "public, max-age=31536000, immutable",
            ], body: ResponseBody(byteBuffer: ByteBuffer(bytes: file.bytes)))
    }

    private static func picture(_ call: Call) async throws -> Response {
        let asset = try call.asset
        guard let maker = call.parts.pictures else {
            throw Problem(.notFound, "This gateway makes no pictures.")
        }
        return try await call.hidingPaths(of: asset) {
            let library = call.parts.library
            let version = call.query("version") ?? "original"
            let name: String
            let stored: StoredFile
            if version == "original" {
                stored = .original(asset)
                let info = try await library.info(of: stored)
                name = "\(asset.string)/original/\(info)"
            } else {
                let provenance = try await library.version(version, of: asset)
                if provenance.content == nil {
                    stored = .original(asset)
                } else {
                    stored = try library.shownFile(of: provenance, asset)
                }
                name = "\(asset.string)/\(provenance.version)"
            }
            let file = try await maker.picture(
                named: name, side: pictureSide, for: try call.key.owner
            ) {
                try await library.open(stored, nil)
            }
            let bytes = try file.length()
            return Response(
                status: .ok,
                headers: [
                    .contentType: "image/jpeg", .cacheControl: "private, max-age=300",
                    .contentSecurityPolicy: "sandbox",
                ], body: BoundedDownload(file, 0..<bytes, over: call.channel).body)
        }
    }

    private static func live(_ call: Call) async throws -> Response {
        let key = try call.key
        let permit = try call.parts.permits.stream(of: key)
        // Throws errors before the stream begins, because a stream cannot carry a status.
        _ = try await fragments(call)
        return EventStreaming().response(to: call.request, over: call.channel) { sink in
            defer { permit.close() }
            var sent: [String: String] = [:]
            var spoke = ContinuousClock.now
            while !Task.isCancelled {
                // A key that was revoked meanwhile sees nothing more, nor does a session that has ended.
                _ = try await call.parts.keys.key(named: key.id)
                if let session = call.session {
                    guard try await call.parts.signIn.sessions.holder(of: session) != nil else {
                        return
                    }
                }
                for fragment in try await dueFragments(call)
                where sent[fragment.id] != fragment.html {
                    sent[fragment.id] = fragment.html
                    try await sink.send(
                        event: Fragment.event,
                        data: String(decoding: try JSONEncoder().encode(fragment), as: UTF8.self))
                    spoke = .now
                }
                if .now - spoke > Fragment.silenceMax / 2 {
                    try await sink.send(event: Fragment.aliveEvent, data: "")
                    spoke = .now
                }
                try await Task.sleep(for: liveEvery)
            }
        }
    }

    /// Renders the live fragments again, which costs what a request does and counts as one. While the key has none left, a page stays as
    /// it is: a tenant may have a thousand streams, of which each would be a request a second that nothing counts.
    private static func dueFragments(_ call: Call) async throws -> [Fragment] {
        do throws(Problem) {
            try call.parts.limits.rate.charge(1, to: call.key)
        } catch {
            return []
        }
        return try await fragments(call)
    }

    /// Renders the live fragments of the page that the query names.
    private static func fragments(_ call: Call) async throws -> [Fragment] {
        let subject = call.query("of")
        switch (call.query("page"), subject) {
        case ("now", _):
            guard try call.key.reach.isEverything, try call.key.permits(.operate) else {
                throw Problem(.tenantKey, "This page is for operators.")
            }
            return try await NowRoutes.now(call).fragments
        case ("job", let job?): return try await JobPages.page(job, call).fragments
        case ("batches", _): return try await BatchPages.list(call).fragments
        case ("batch", let batch?):
            let record = try await BatchRoutes.find(named: batch, call).1
            return try await BatchPages.page(record, call).fragments
        case ("replay", let id?):
            guard try call.key.permits(.operate) else {
                throw Problem(.scopeMissing, "The progress of a replay needs the scope operate.")
            }
            return DeadPages.progress(try await ReplayRoutes.find(id, call), call).fragments
        default: throw Problem(.badParameter, "page names no page with live parts.")
        }
    }
}
