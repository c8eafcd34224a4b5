import AccessKeys
import Edits
import AsyncHTTPClient
import Foundation
import JobQueue
import Library
import Logging
import MinilabTesting
import NIOCore
import NIOHTTP1
import Redis
import ServiceLifecycle
import Synchronization
import SystemPackage
import Testing

@testable import Gateway

/// A gateway that runs in this process, on a real Redis and a library in a folder of its own.
///
/// The gateway comes to Redis as the user `gateway`; tests do other programs' parts as `admin`.
final class GatewayRig: Sendable {
    let server: RedisServer
    let redis: RedisClient
    let queue: JobQueue
    let folder: TemporaryFolder
    let gateway: GatewayParts
    let parts: CallParts
    let port: Int
    /// Whether the gateway knew its keys and the newest event when it began to listen.
    let listenedReady: Bool
    private let group: ServiceGroup
    private let running: Task<Void, any Error>
    private let clients: [RedisClient]

    /// Redirects are answers that tests look at.
    private static let client = HTTPClient(
        eventLoopGroupProvider: .singleton,
        configuration: HTTPClient.Configuration(redirectConfiguration: .disallow))

    /// - Parameters:
    ///   - server: a server of the test's own, when it is going to be harmed.
    ///   - other: another gateway, whose queue this one serves, too.
    ///   - logger: nil for none.
    ///   - askEvery: the time between two checks of Redis; nil for the usual one.
    init(
        on server: RedisServer? = nil, beside other: GatewayRig? = nil, logger: Logger? = nil,
        askEvery: Duration? = nil,
        settings change: (inout GatewaySettings) -> Void = { _ in }
    ) async throws {
        if let server = server ?? other?.server {
            self.server = server
        } else {
            self.server = try await SharedRedis.server()
        }
        folder = try TemporaryFolder()
        let logger = logger ?? Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let url = try RedisURL(self.server.url(as: .gateway))
        let clients = GatewayClients { RedisClient(.init(url: url), logger: logger) }
        redis = RedisClient(.init(url: try RedisURL(self.server.url)), logger: logger)
        self.clients = clients.all + [redis]
        queue = JobQueue(
            name: try other?.queue.name ?? QueueName("q-\(UInt64.random(in: 0...UInt64.max))"),
            redis: redis)
        let root = FilePath(folder.path).appending("library")
        try FileManager.default.createDirectory(
            atPath: root.appending("originals").string, withIntermediateDirectories: true)
        var settings = GatewaySettings()
        settings.port = 0
        change(&settings)
        gateway = GatewayParts(
            queue: JobQueue(name: queue.name, redis: clients.commands), clients: clients,
            library: try LibraryFolder(root: root), settings: settings, logger: logger)
        parts = gateway.calls
        let (ports, listening) = AsyncStream.makeStream(of: (port: Int, isReady: Bool).self)
        let service = GatewayService(gateway, askEvery: askEvery) { [parts] port in
            listening.yield(
                (port: port, isReady: parts.keys.isReady && parts.events.hub.newest != nil))
        }
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(services: service.services, logger: logger))
        self.group = group
        let running = Task {
            defer { listening.finish() }
            try await group.run()
        }
        self.running = running
        var listens: (port: Int, isReady: Bool)?
        for await found in ports {
            listens = found
            break
        }
        guard let listens else {
            try await running.value
            throw Ended()
        }
        (port, listenedReady) = listens
        // Keys and events are read as soon as Redis has answered.
        try await eventually("the gateway hears Redis") { [parts] in
            parts.keys.isReady && parts.events.hub.hasContact ? true : nil
        }
    }

    /// Ends the gateway as a signal does. Cancelling its task would end the process where a connection has just been accepted:
    /// swift-nio stops on a channel that was made and never served.
    deinit {
        Task { [group, running, clients] in
            await group.triggerGracefulShutdown()
            _ = await running.result
            for client in clients { await client.close() }
        }
    }

    /// Ends the gateway as a signal does, and waits until it has ended.
    func stop() async throws {
        await group.triggerGracefulShutdown()
        try await waitForEnd()
    }

    /// Waits until the gateway has ended.
    func waitForEnd() async throws { try await running.value }

    /// A key for tests.
    ///
    /// - Parameter tenant: nil for the operator's.
    func key(
        _ tenant: String? = nil, scopes: Set<Scope>, prefix: String? = nil,
        quotas: KeyQuotas = KeyQuotas()
    ) async throws -> String {
        let terms = try KeyTerms(
            tenant: tenant.map { try JobID($0) },
            assetPrefix: try AssetPrefix(prefix ?? tenant.map { "\($0)/" } ?? ""), scopes: scopes,
            quotas: quotas)
        return try await parts.keyStore.create(terms).text.revealed
    }

    /// The gateway ended before it listened.
    private struct Ended: Error {}

    /// The answer to a request.
    struct Answer {
        let status: Int
        /// Values by name in lower case.
        let headers: [String: [String]]
        let text: String

        /// The body as a document; null when it is none.
        var json: JSONValue {
            do { return try JSONValue(parsing: text, as: "the answer") } catch { return .null }
        }
        /// The one value of a field; nil when there is none, or several.
        func header(_ name: String) -> String? {
            let values = headers[name.lowercased()] ?? []
            return values.count == 1 ? values[0] : nil
        }
        /// The code of a problem.
        var code: String? { json["code"]?.text }
    }

    /// Sends a request and reads all of the answer.
    func send(
        _ method: String, _ path: String, key: String? = nil, json: String? = nil,
        body: String? = nil, headers: [String: String] = [:]
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)\(path)")
        request.method = HTTPMethod(rawValue: method)
        if let key { request.headers.add(name: "Authorization", value: "Bearer \(key)") }
        if json != nil { request.headers.add(name: "Content-Type", value: "application/json") }
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        if let text = json ?? body { request.body = .bytes(ByteBuffer(string: text)) }
        let response = try await Self.client.execute(request, timeout: .seconds(300))
        let bytes = try await response.body.collect(upTo: 16 << 20)
        return Answer(
            status: Int(response.status.code),
            headers: Dictionary(grouping: response.headers, by: { $0.name.lowercased() })
                .mapValues { $0.map(\.value) },
            text: String(buffer: bytes))
    }
}

extension JSONValue {
    subscript(_ name: String) -> JSONValue? {
        if case .object(let fields) = self { fields[name] } else { nil }
    }
    var text: String? { if case .string(let text) = self { text } else { nil } }
    var number: Double? { if case .number(let number) = self { number } else { nil } }
    var list: [JSONValue]? { if case .array(let list) = self { list } else { nil } }
}
