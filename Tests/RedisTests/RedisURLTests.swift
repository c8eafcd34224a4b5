import Redis
import Testing

@Suite("RedisURL") struct RedisURLTests {
    struct Example: Sendable, CustomTestStringConvertible {
        let text: String
        let address: RedisURL.Address
        var usesTLS = false
        var user: String?
        var password: String?
        var database = 0
        let description: String
        var testDescription: String { text }
    }

    static let examples = [
        Example(
            text: "redis://localhost", address: .tcp(host: "localhost", port: 6379),
            description: "redis://localhost:6379/0"),
        Example(
            text: "redis://10.0.0.7:7000/3", address: .tcp(host: "10.0.0.7", port: 7000),
            database: 3, description: "redis://10.0.0.7:7000/3"),
        Example(
            text: "redis://[::1]:7000/", address: .tcp(host: "::1", port: 7000),
            description: "redis://[::1]:7000/0"),
        Example(
            text: "redis://[fe80::2]", address: .tcp(host: "fe80::2", port: 6379),
            description: "redis://[fe80::2]:6379/0"),
        Example(
            text: "rediss://worker:a%2Fb%40c%25@redis.example:6390/1",
            address: .tcp(host: "redis.example", port: 6390), usesTLS: true, user: "worker",
            password: "a/b@c%", database: 1,
            description: "rediss://worker:***@redis.example:6390/1"),
        Example(
            text: "redis://:secret@localhost", address: .tcp(host: "localhost", port: 6379),
            password: "secret", description: "redis://:***@localhost:6379/0"),
        Example(
            text: "redis://w:a:b@localhost", address: .tcp(host: "localhost", port: 6379),
            user: "w", password: "a:b", description: "redis://w:***@localhost:6379/0"),
        Example(
            text: "unix:///run/redis.sock", address: .unixSocket(path: "/run/redis.sock"),
            description: "unix:///run/redis.sock?db=0"),
        Example(
            text: "unix://w:pw@/run/my%20redis.sock?db=2",
            address: .unixSocket(path: "/run/my redis.sock"), user: "w", password: "pw",
            database: 2, description: "unix://w:***@/run/my redis.sock?db=2"),
    ]

    @Test(arguments: examples)
    func `every form gives its parts`(_ example: Example) throws {
        let url = try RedisURL(example.text)
        #expect(url.address == example.address)
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
