/// A private Redis with a replica and three sentinels for one test.
public final class RedisSentinels: Sendable {
    /// The silence after which the sentinels replace the master.
    static let downAfterMilliseconds = 500
    /// The sentinels' name for the master.
    public static let masterName = "photos"

    /// The server that is the master at the start.
    public let master: RedisServer
    /// The server that is the replica at the start.
    public let replica: RedisServer
    /// The sentinels.
    public let sentinels: [RedisServer]
    private let usesTLS: Bool

    /// Returns a URL with all sentinels. `login` has the form `user:password@`.
    public func url(login: String = RedisUser.admin.login) -> String {
        let addresses = sentinels.map(\.address).joined(separator: ",")
        return "\(usesTLS ? "rediss" : "redis")+sentinel://\(login)\(addresses)/\(Self.masterName)"
    }

    /// Starts the servers and waits until the sentinels know the replica and one another.
    ///
    /// - Parameters:
    ///   - certificates: The servers' certificates; with them, all use TLS only and request client certificates.
    ///   - program: The server program.
    ///   - arguments: More arguments for the master and the replica.
    public static func start(
        certificates: TestCertificates? = nil, program: String = "redis-server",
        arguments: [String] = []
    ) async throws -> RedisSentinels {
        let tls = certificates == nil ? [] : ["--tls-replication", "yes"]
        let master = try await RedisServer.start(
            certificates: certificates, clientsNeedCertificates: true, program: program,
            arguments: ["--repl-diskless-sync-delay", "0"] + tls + arguments)
        let replica = try await RedisServer.start(
            certificates: certificates, clientsNeedCertificates: true, program: program,
            arguments: ["--replicaof", "127.0.0.1 \(master.port)"] + tls + arguments)
        // A sentinel asks for the replicas when it starts to monitor, and then only every ten seconds.
        try await replica.waitFor("master_link_status:up", in: "INFO", "replication")

        var sentinels: [RedisServer] = []
        for _ in 0..<3 {
            sentinels.append(
                try await RedisServer.start(
                    certificates: certificates, clientsNeedCertificates: true, program: program,
                    settings: settings(name: masterName, master: master.port, quorum: 2),
                    exception: .sentinel, arguments: ["--sentinel"] + tls))
        }
        for sentinel in sentinels {
            try await eventually("\(sentinel.address) knows the others") {
                let text = try await sentinel.command("SENTINEL", "MASTER", masterName)
                let fields = text.split(whereSeparator: \.isNewline).map(String.init)
                let pairs = Dictionary(
                    zip(fields, fields.dropFirst()), uniquingKeysWith: { first, _ in first })
                return pairs["num-slaves"] == "1" && pairs["num-other-sentinels"] == "2"
                    ? true : nil
            }
        }
        return RedisSentinels(master, replica, sentinels, usesTLS: certificates != nil)
    }

    /// The settings of a sentinel that watches a master with users.
    public static func settings(name: String, master port: Int, quorum: Int) -> String {
        """
        sentinel monitor \(name) 127.0.0.1 \(port) \(quorum)
        sentinel down-after-milliseconds \(name) \(downAfterMilliseconds)
        sentinel failover-timeout \(name) 3000
        sentinel auth-user \(name) \(RedisUser.admin.rawValue)
        sentinel auth-pass \(name) \(RedisUser.admin.password)

        """
    }

    private init(
        _ master: RedisServer, _ replica: RedisServer, _ sentinels: [RedisServer], usesTLS: Bool
    ) {
        self.master = master
        self.replica = replica
        self.sentinels = sentinels
        self.usesTLS = usesTLS
    }
}
