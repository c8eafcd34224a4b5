import Redis
import Testing

@Suite("RedisURL") struct RedisURLTests {
    struct Example: Sendable, CustomTestStringConvertible {
        let text: String
        let topology: RedisURL.Topology
        var usesTLS = false
        var user: String?
        var password: String?
        var database = 0
        let description: String
        var testDescription: String { text }
    }

    static let examples = [
        Example(
            text: "redis://localhost", topology: .standalone(.tcp(host: "localhost", port: 6379)),
            description: "redis://localhost:6379/0"),
        Example(
            text: "redis://10.0.0.7:7000/3",
            topology: .standalone(.tcp(host: "10.0.0.7", port: 7000)),
            database: 3, description: "redis://10.0.0.7:7000/3"),
        Example(
            text: "redis://[::1]:7000/", topology: .standalone(.tcp(host: "::1", port: 7000)),
            description: "redis://[::1]:7000/0"),
        Example(
            text: "redis://[fe80::2]", topology: .standalone(.tcp(host: "fe80::2", port: 6379)),
            description: "redis://[fe80::2]:6379/0"),
        Example(
            text: "rediss://worker:a%2Fb%40c%25@redis.example:6390/1",
            topology: .standalone(.tcp(host: "redis.example", port: 6390)), usesTLS: true,
            user: "worker",
            password: "a/b@c%", database: 1,
            description: "rediss://worker:***@redis.example:6390/1"),
        Example(
            text: "redis://:secret@localhost",
            topology: .standalone(.tcp(host: "localhost", port: 6379)),
            password: "secret", description: "redis://:***@localhost:6379/0"),
        Example(
            text: "redis://w:a:b@localhost",
            topology: .standalone(.tcp(host: "localhost", port: 6379)),
            user: "w", password: "a:b", description: "redis://w:***@localhost:6379/0"),
        Example(
            text: "unix:///run/redis.sock",
            topology: .standalone(.unixSocket(path: "/run/redis.sock")),
            description: "unix:///run/redis.sock?db=0"),
        Example(
            text: "unix://w:pw@/run/my%20redis.sock?db=2",
            topology: .standalone(.unixSocket(path: "/run/my redis.sock")), user: "w",
            password: "pw",
            database: 2, description: "unix://w:***@/run/my redis.sock?db=2"),
        Example(
            text: "redis+sentinel://w:pw@s1,s2:5000,[::1]/my.master-1/2",
            topology: .sentinel(
                master: "my.master-1",
                sentinels: [
                    .tcp(host: "s1", port: 26_379), .tcp(host: "s2", port: 5000),
                    .tcp(host: "::1", port: 26_379),
                ]), user: "w", password: "pw", database: 2,
            description: "redis+sentinel://w:***@s1:26379,s2:5000,[::1]:26379/my.master-1/2"),
        Example(
            text: "rediss+sentinel://s1/m",
            topology: .sentinel(master: "m", sentinels: [.tcp(host: "s1", port: 26_379)]),
            usesTLS: true, description: "rediss+sentinel://s1:26379/m/0"),
        Example(
            text: "redis+cluster://:pw@n1,n2:7001",
            topology: .cluster(seeds: [.tcp(host: "n1", port: 6379), .tcp(host: "n2", port: 7001)]),
            password: "pw", description: "redis+cluster://:***@n1:6379,n2:7001"),
        Example(
            text: "rediss+cluster://n1/0",
            topology: .cluster(seeds: [.tcp(host: "n1", port: 6379)]), usesTLS: true,
            description: "rediss+cluster://n1:6379"),
    ]

    @Test(arguments: examples)
    func `every form gives its parts`(_ example: Example) throws {
        let url = try RedisURL(example.text)
        #expect(url.topology == example.topology)
        #expect(url.usesTLS == example.usesTLS)
        #expect(url.user == example.user)
        #expect(url.password == example.password)
        #expect(url.database == example.database)
        #expect(url.description == example.description)
    }

    /// Wrong forms with what their messages name: the value and what is allowed.
    @Test(arguments: [
        ("", "redis:// (TCP)"),
        ("localhost:6379", "the scheme"),
        ("http://localhost", "\"http\""),
        ("REDIS://localhost", "\"REDIS\""),
        ("redis://", "the host is \"\""),
        ("redis://:6379", "the host is \"\""),
        ("redis://local host", "a host name or an IP address"),
        ("redis://::1", "for IPv6, [address]:port"),
        ("redis://[::1]6379", "[IPv6 address]:port"),
        ("redis://localhost:", "the port is \"\""),
        ("redis://localhost:0", "from 1 to 65535"),
        ("redis://localhost:65536", "\"65536\""),
        ("redis://localhost:http", "\"http\""),
        ("redis://localhost/one", "the database is \"one\""),
        ("redis://localhost/-1", "\"-1\""),
        ("redis://localhost/1/2", "\"1/2\""),
        ("redis://localhost?db=1", "\"?db=1\""),
        ("redis://localhost#1", "\"#1\""),
        ("redis://worker@localhost", "user:password@"),
        ("redis://worker:@localhost", "empty password"),
        ("redis://w:%zz@localhost", "%25"),
        ("redis://w:%4@localhost", "%25"),
        ("redis://w:%FF@localhost", "UTF-8"),
        ("redis://a,b", "redis+sentinel:// or redis+cluster:// for several"),
        ("redis+sentinel://a,b", "the master is \"\""),
        ("redis+sentinel://a/my master", "\"my master\""),
        ("redis+sentinel://a/m/x", "the database is \"x\""),
        ("redis+sentinel://a,,b/m", "the host is \"\""),
        ("redis+sentinel://a:x/m", "the port is \"x\""),
        ("redis+cluster://a,b:0", "from 1 to 65535"),
        ("redis+cluster://a/1", "a cluster has only 0"),
        ("redis+cluster://a?x=1", "\"?x=1\""),
        ("unix+cluster:///run/redis.sock", "\"unix+cluster\""),
        ("unix://redis.sock", "absolute path"),
        ("unix:///\(String(repeating: "x", count: 107))", "at most 107 bytes"),
        ("unix:///run/a%00b", "absolute path"),
        ("unix:///run/redis.sock?database=1", "db=N"),
        ("unix:///run/redis.sock?db=x", "\"x\""),
    ])
    func `a wrong form is refused with its value and what is allowed`(
        text: String, naming part: String
    ) throws {
        let error = try #require(throws: RedisError.self) { try RedisURL(text) }
        #expect(error.code == .invalidURL)
        #expect(!error.mayHaveExecuted)
        #expect(error.message.contains(part), "\(error.message)")
    }

    @Test(arguments: [
        "redis://worker:secret@localhost:1x", "redis://worker:sec/ret@localhost",
        "redis://worker:secret%@localhost", "rediss://worker:secret@localhost/x",
        "redis+sentinel://worker:secret@a,b:x/m", "redis+sentinel://worker:secret@a,b",
        "redis+cluster://worker:sec/ret@a,b", "redis+cluster://worker:secret@a,b/1",
    ])
    func `no message shows a password`(text: String) throws {
        let error = try #require(throws: RedisError.self) { try RedisURL(text) }
        #expect(!error.description.contains("sec"), "\(error)")
    }

    @Test func `neither print nor dump shows a password`() throws {
        let url = try RedisURL("redis://worker:secret@localhost")
        var dumped = ""
        dump(RedisConfiguration(url: url), to: &dumped)
        #expect(!dumped.contains("secret"))
        #expect(!"\(RedisConfiguration(url: url))".contains("secret"))
        #expect(!String(reflecting: url).contains("secret"))
    }
}
