/// A private Redis Cluster for one test: three masters, optionally with a replica each.
///
/// Slots 0 to 5461 belong to the first master, those up to 10922 to the second, the rest to the third.
public final class RedisCluster: Sendable {
    /// The time without contact after which the other nodes replace a node.
    static let nodeTimeoutMilliseconds = 1000

    /// The masters, in the order of their slots.
    public let masters: [RedisServer]
    /// The replicas, in the order of their masters; empty if there are none.
    public let replicas: [RedisServer]
    private let usesTLS: Bool

    /// Returns a URL with all nodes as seeds. `login` has the form `user:password@`.
    public func url(login: String = RedisUser.admin.login) -> String {
        let addresses = (masters + replicas).map(\.address).joined(separator: ",")
        return "\(usesTLS ? "rediss" : "redis")+cluster://\(login)\(addresses)"
    }

    /// Starts a cluster and waits until all nodes report that it is up.
    ///
    /// - Parameters:
    ///   - hasReplicas: Whether each master has a replica, which replaces it when it dies.
    ///   - certificates: The nodes' certificates; with them, the nodes use TLS only and request client certificates.
    ///   - program: The server program.
    ///   - arguments: More arguments for each node.
    public static func start(
        hasReplicas: Bool = false, certificates: TestCertificates? = nil,
        program: String = "redis-server", arguments: [String] = []
    ) async throws -> RedisCluster {
        let nodes = try await withThrowingTaskGroup(of: RedisServer.self) { group in
            for _ in 0..<(hasReplicas ? 6 : 3) {
                group.addTask { try await startNode(certificates, program, arguments) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        let cluster = RedisCluster(nodes, usesTLS: certificates != nil)
        try await cluster.join()
        return cluster
    }

    private init(_ nodes: [RedisServer], usesTLS: Bool) {
        masters = Array(nodes.prefix(3))
        replicas = Array(nodes.dropFirst(3))
        self.usesTLS = usesTLS
    }

    private static func startNode(
        _ certificates: TestCertificates?, _ program: String, _ arguments: [String]
    ) async throws -> RedisServer {
        let tls = ["--tls-cluster", "yes", "--tls-replication", "yes"]
        return try await RedisServer.start(
            certificates: certificates, clientsNeedCertificates: true, program: program,
            arguments: [
                "--cluster-enabled", "yes",
                // The default, port + 10,000, may exceed the highest port.
                "--cluster-port", String(try RedisServer.freePort()),
                "--cluster-node-timeout", String(nodeTimeoutMilliseconds),
                "--cluster-replica-validity-factor", "0", "--repl-diskless-sync-delay", "0",
            ] + (certificates == nil ? [] : tls) + arguments)
    }

    private func join() async throws {
        let ranges = [("0", "5461"), ("5462", "10922"), ("10923", "16383")]
        for (index, (node, range)) in zip(masters, ranges).enumerated() {
            try await node.command("CLUSTER", "ADDSLOTSRANGE", range.0, range.1)
            try await node.command("CLUSTER", "SET-CONFIG-EPOCH", String(index + 1))
        }
        for node in (masters + replicas).dropFirst() {
            let bus = try await node.command("CONFIG", "GET", "cluster-port")
            try await masters[0].command(
                "CLUSTER", "MEET", "127.0.0.1", String(node.port),
                String(bus.split(whereSeparator: \.isNewline).last ?? ""))
        }
        for node in masters + replicas {
            try await node.waitFor(
                "cluster_known_nodes:\(masters.count + replicas.count)", in: "CLUSTER", "INFO")
            try await node.waitFor("cluster_state:ok", in: "CLUSTER", "INFO")
        }
        for (replica, master) in zip(replicas, masters) {
            try await replica.command("CLUSTER", "REPLICATE", try await Self.id(of: master))
        }
        // A replica that is not in sync does not replace its master.
        for replica in replicas {
            try await replica.waitFor("master_link_status:up", in: "INFO", "replication")
        }
        // A master votes for a replica only if it knows it as a replica.
        for node in masters where !replicas.isEmpty {
            try await eventually("\(node.address) knows the replicas") {
                let lines = try await node.command("CLUSTER", "NODES").split(separator: "\n")
                return lines.count { $0.contains("slave") } == replicas.count ? true : nil
            }
        }
    }

    /// Returns the node's id in the cluster.
    public static func id(of node: RedisServer) async throws -> String {
        try await node.command("CLUSTER", "MYID")
    }
}
