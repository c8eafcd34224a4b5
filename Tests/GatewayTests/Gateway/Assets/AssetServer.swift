import AccessKeys
import Edits
import Editors
import Files
import Foundation
import HTTPTypes
import Hummingbird
import JobQueue
import Library
import Logging
import MinilabTesting
import NIOCore
import Redis
import SystemPackage

@testable import Gateway

/// The routes of assets over a library in a folder, asked with a key of one's choice.
final class AssetServer: Sendable {
    let folder: TemporaryFolder
    let library: LibraryFolder
    private let border: BorderServer
    let parts: CallParts
    var port: Int { border.port }

    /// - Parameters:
    ///   - prefix: of the key's assets.
    ///   - limits: those of its connections.
    ///   - settings: changes the gateway's.
    init(
        prefix: String = "acme/", limits: BorderLimits = BorderLimits(),
        settings change: (inout GatewaySettings) -> Void = { _ in }
    ) async throws {
        folder = try TemporaryFolder()
        let library = try LibraryFolder(root: FilePath(folder.path).appending("library"))
        self.library = library
        var settings = GatewaySettings()
        change(&settings)
        let parts = try await Self.parts(library, settings)
        self.parts = parts
        let key = AccessKey(
            id: "key",
            terms: try KeyTerms(
                tenant: JobID("acme"), assetPrefix: AssetPrefix(prefix),
                scopes: [.enqueue, .read]), createdAt: 0)
        border = try await BorderServer(limits) { request, context in
            let path = request.uri.path
            let found = AssetRoutes.routes.first {
                $0.method == request.method && $0.matches(path)
            }
            guard let route = found else { return Problem(.unknownPath, "no route").response }
            let call = Call(
                request: request, parameters: context.parameters,
                tail: route.tail(of: path), caller: key,
                session: nil, person: nil, channel: context.channel, parts: parts,
                logger: parts.logger)
            do {
                return try await route.handle(call)
            } catch {
                return Problem(error).response
            }
        }
    }

    private static func parts(
        _ library: LibraryFolder, _ settings: GatewaySettings
    ) async throws -> CallParts {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        // The bytes of a day are counted there.
        let redis = RedisClient(
            RedisConfiguration(url: try RedisURL(try await SharedRedis.server().url(as: .gateway))),
            logger: logger)
        let name = try QueueName("q-\(UInt64.random(in: 0...UInt64.max))")
        return GatewayParts(
            queue: JobQueue(name: name, redis: redis), clients: GatewayClients { redis },
            library: library, settings: settings, logger: logger
        ).calls
    }

    /// Puts a file below the originals.
    func put(_ text: String, at asset: String) throws {
        let path = library.originals.pushing(FilePath(asset))
        try FileManager.default.createDirectory(
            atPath: path.removingLastComponent().string, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(filePath: path.string))
    }

    /// The files below the originals; nil when nothing does.
    func text(of asset: String) -> String? {
        let path = library.originals.pushing(FilePath(asset)).string
        return FileManager.default.contents(atPath: path).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    /// Sends a request whose connection is closed after.
    ///
    /// - Parameter fields: further ones, each with its line's end.
    func send(
        _ method: String, _ path: String, _ fields: String = "", body: String? = nil
    ) async throws -> HTTPExchange.Answer {
        let length = body.map { "Content-Length: \($0.utf8.count)\r\n" } ?? ""
        return try await HTTPExchange.send(
            "\(method) \(path) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\(fields)\(length)\r\n"
                + (body ?? ""), port: port)
    }

    /// Publishes a version of an asset whose render is a text.
    func publish(
        _ name: VersionName, of asset: String, on parent: VersionName?, text: String,
        filters: [Filter] = []
    ) async throws {
        let asset = try AssetPath(asset)
        let staged = StagedVersion(queue: "photos", job: "acme.job-\(name)", fence: name.fence)
        let folder = try library.staging.begin(staged)
        try Data(text.utf8).write(to: URL(filePath: folder.appending("photo.jpg").string))
        try FileManager.default.createDirectory(
            atPath: folder.appending("previews").string, withIntermediateDirectories: true)
        try Data("small".utf8).write(
            to: URL(filePath: folder.appending("previews").appending("64.jpg").string))
        let recipe = try Recipe(filters: filters)
        let adjustment = try library.staging.write(
            AAESidecar(
                AdjustmentData(recipe), on: .original, timestamp: Date(timeIntervalSince1970: 0)),
            as: "photo.AAE", into: staged)
        let source = try await library.digest(of: .original(asset), isRead: true)
        func image(_ name: String, _ text: String) throws -> Content.Image {
            Content.Image(
                name: name,
                MadeFile(
                    mediaType: "image/jpeg", size: PixelSize(width: 3, height: 4),
                    bytes: text.utf8.count,
                    sha256: try FileDigest.sha256(
                        of: folder.pushing(FilePath(name)).string
                    ).hex))
        }
        let content = Content(
            source: Content.Input(
                sha256: source?.sha256 ?? "", format: "jpeg", size: PixelSize(width: 4, height: 3),
                orientation: 1),
            base: nil, adjustment: adjustment, opened: nil, recipe: recipe, editDigest: "00",
            rendering: Content.Rendering(
                by: RenderOrigin(engine: "test/1"), key: nil, at: "2026-01-01T00:00:00Z", plan: [],
                wallMilliseconds: 1, cpuMilliseconds: 1, peakMemoryBytes: 1),
            render: try image("photo.jpg", text),
            previews: [
                Content.Preview(longestSide: 64, image: try image("previews/64.jpg", "small"))
            ])
        let before = try await parent.asyncMap { try await library.provenance(of: $0, asset) }
        let state = try await library.state(of: asset)
        let provenance = Provenance(
            version: name, parent: parent, mode: .replace,
            author: Provenance.Author(
                queue: "photos", job: staged.job, generation: 1, attempt: 1,
                worker: "secret-host", at: "2026-01-01T00:00:00Z"),
            history: try await library.publishedJobs(of: asset, state),
            timeline: (before??.timeline ?? .start).edited(by: name), content: content)
        try await library.seal(staged, provenance, of: asset)
        _ = try await library.publish(name, of: asset, from: staged)
    }
}

extension Optional {
    fileprivate func asyncMap<Result>(
        _ change: (Wrapped) async throws -> Result
    ) async throws -> Result? {
        guard let self else { return nil }
        return try await change(self)
    }
}
