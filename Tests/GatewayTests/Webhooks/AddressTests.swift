import AccessKeys
import Edits
import ServiceTesting
import Dispatch
import MinilabTesting
import Synchronization
import Testing

@testable import Webhooks

@Suite("Where webhooks may go") struct AddressTests {
    @Test(arguments: [
        "0.0.0.0", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255", "127.0.0.1",
        "127.255.255.255", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.1",
        "192.0.2.1", "192.168.0.1", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1",
        "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
        "::", "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254",
        "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "100::1",
        "2001::1", "2001:db8::1", "2002:7f00:1::", "2002:808:808::", "3fff::1", "4000::1",
        "5f00::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fec0::1", "ff02::1",
    ])
    func `what the whole Internet cannot reach is refused`(_ text: String) throws {
        let address = try #require(IPAddress(text))
        #expect(AddressRule().refusal(of: address) != nil)
    }

    @Test(arguments: [
        "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0",
        "126.255.255.255", "128.0.0.0", "169.253.255.255", "169.255.0.0", "172.15.255.255",
        "172.32.0.0", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0",
        "223.255.255.255", "2606:4700::1", "2a00:1450::1", "::ffff:8.8.8.8", "64:ff9b::808:808",
    ])
    func `what it can reach is allowed, up to the edge of each range`(_ text: String) throws {
        let address = try #require(IPAddress(text))
        #expect(AddressRule().refusal(of: address) == nil)
    }

    @Test func `the operator's own ranges are allowed, mapped or not`() throws {
        let rule = AddressRule(allowed: [
            try AddressRange("10.1.0.0/16"), try AddressRange("fd00:1::/32"),
            try AddressRange("::ffff:192.168.7.7"),
        ])
        for text in ["10.1.2.3", "::ffff:10.1.2.3", "fd00:1::9", "192.168.7.7"] {
            #expect(rule.refusal(of: try #require(IPAddress(text))) == nil, "\(text)")
        }
        for text in ["10.2.0.1", "fd00:2::9", "192.168.7.8", "127.0.0.1"] {
            #expect(rule.refusal(of: try #require(IPAddress(text))) != nil, "\(text)")
        }
        #expect(try AddressRange("0.0.0.0/0").contains(try #require(IPAddress("1.2.3.4"))))
    }

    @Test(arguments: [
        "", "10.0.0.0/33", "10.0.0.1/8", "10/8", "10.0.0.0/-1", "10.0.0.0/8/8", "a.example",
        "fe80::1%eth0", "1.2.3", "0x7f.0.0.1", "::/129",
    ])
    func `a range that is none is refused`(_ text: String) {
        #expect { try AddressRange(text) } throws: {
            ($0 as? WebhookError)?.code == .invalidRange
        }
    }

    @Test(arguments: [
        ("https://a.example/hooks?x=1", "a.example", 443), ("https://a.example", "a.example", 443),
        ("http://10.1.2.3:8080/", "10.1.2.3", 8080),
        ("https://[2606:4700::1]:8443/a", "2606:4700::1", 8443),
        ("https://a.example?x=%2F", "a.example", 443),
    ])
    func `a URL is taken apart`(_ text: String, _ host: String, _ port: Int) throws {
        let url = try WebhookURL(text)
        #expect(url.host == host && url.port == port && url.string == text)
        #expect(url.isSecure == text.hasPrefix("https"))
    }

    @Test(arguments: [
        "", "a.example", "//a.example", "ftp://a.example/", "file:///etc/passwd", "gopher://a:70/",
        "https://user@a.example/", "https://user:pass@a.example/", "https://a.example@10.0.0.1/",
        "https://a.example#@b.example/", "https://a.example\\@b.example/", "https://a.example:0/",
        "https://a.example:65536/", "https://a.example:/", "https:/a.example", "https://",
        "https://A.example/", "https://ä.example/", "https://a.example/\r\nHost: b", "https://a b/",
        "https://a.example/ä", "https://-a.example/", "https://[::1", "https://[::g]/",
        "https://[fe80::1%25eth0]/", "https://a%2eexample/", " https://a.example/",
        "https://a.example/#f", "https://a.example/{x}",
    ])
    func `a URL that parsers may take differently is refused`(_ text: String) {
        #expect { try WebhookURL(text) } throws: { ($0 as? WebhookError)?.code == .invalidURL }
    }

    @Test func `the system's resolver finds this machine, and nothing for what is no name`()
        async throws
    {
        let found = try await SystemResolver().addresses(of: "localhost", for: .operator)
        #expect(found.contains { AddressRule.special($0) == "loopback" })
        #expect(
            try await SystemResolver().addresses(of: "127.1", for: .operator).map(\.description)
                == ["127.0.0.1"])
        #expect(try await SystemResolver().addresses(of: "-.invalid", for: .operator).isEmpty)
    }

    /// Answers each look-up with the next of its lists, and the last one from then on.
    private final class Rebinding: AddressResolver {
        private let answers: [[String]]
        private let asked = Mutex(0)

        init(_ answers: [String]...) { self.answers = answers }

        var lookups: Int { asked.withLock { $0 } }

        func addresses(of host: String, for owner: FairShare.Owner) -> [IPAddress] {
            let number = asked.withLock { asked in
                defer { asked += 1 }
                return asked
            }
            return answers[min(number, answers.count - 1)].compactMap { IPAddress($0) }
        }
    }

    private func verdict(
        _ url: String, _ addresses: [String], allowed: [String] = []
    ) async throws -> WebhookErrorCode? {
        let rule = AddressRule(allowed: try allowed.map { try AddressRange($0) })
        let target = TargetGuard(rule: rule, resolver: Rebinding(addresses))
        let url = try WebhookURL(url)
        return await webhookCode { try await target.address(for: url, of: .operator) }
    }

    @Test func `all addresses of a name have to be allowed, and the scheme and port as well`()
        async throws
    {
        #expect(try await verdict("https://a.example", ["8.8.8.8", "2606:4700::1"]) == nil)
        #expect(try await verdict("https://a.example", ["8.8.8.8", "10.0.0.1"]) == .refusedAddress)
        #expect(try await verdict("https://a.example", []) == .unknownHost)
        #expect(try await verdict("http://a.example", ["8.8.8.8"]) == .refusedAddress)
        #expect(try await verdict("https://a.example:22", ["8.8.8.8"]) == .refusedAddress)
        #expect(try await verdict("https://a.example:8443", ["8.8.8.8"]) == nil)
        let inside = ["10.1.0.0/16"]
        #expect(try await verdict("http://a.example:99", ["10.1.2.3"], allowed: inside) == nil)
        #expect(
            try await verdict("http://a.example", ["10.1.2.3", "8.8.8.8"], allowed: inside)
                == .refusedAddress)
    }

    @Test func `spellings of this machine's address lead to it and are refused`() async throws {
        let target = TargetGuard(rule: AddressRule())
        for host in ["localhost", "127.1", "2130706433", "0x7f.1", "017700000001", "[::1]"] {
            let url = try WebhookURL("https://\(host)/")
            let code = await webhookCode { try await target.address(for: url, of: .operator) }
            #expect([.refusedAddress, .unknownHost].contains(code), "\(host)")
        }
        #expect(
            await webhookCode {
                try await target.address(for: WebhookURL("https://127.1/"), of: .operator)
            }
                == .refusedAddress)
    }

    @Test func `a name that leads elsewhere after the check is not followed there`() async throws {
        let stub = try await StubServer.start()
        let other = try await StubServer.start()
        let range = try AddressRange("127.0.0.1")
        let message = SignedMessage(id: "msg_1", body: [], seconds: 0, secrets: [WebhookSecret()])

        // The first look-up is the only one; the connection goes where it led.
        let moving = Rebinding(["127.0.0.1"], ["127.0.0.2"])
        let sender = WebhookSender(
            target: TargetGuard(rule: AddressRule(allowed: [range]), resolver: moving))
        let answer = await sender.send(
            message, to: "http://hooks.example:\(stub.port)/", of: .operator)
        #expect(answer.status == 204 && moving.lookups == 1)
        #expect(stub.requests.first?.header("host") == "hooks.example:\(stub.port)")

        // The other way round, nothing is sent at all.
        let moved = Rebinding(["127.0.0.2"], ["127.0.0.1"])
        let refused = await WebhookSender(
            target: TargetGuard(rule: AddressRule(allowed: [range]), resolver: moved)
        ).send(message, to: "http://hooks.example:\(other.port)/", of: .operator)
        #expect(refused.status == nil && refused.error?.contains("loopback") == true)
        #expect(refused.error?.contains("127.0.0.2") == false)
        #expect(other.requests.isEmpty)
    }

    /// Looks up names for ever, until it is let go.
    private final class SilentServers: Sendable {
        private let names = Mutex<[String]>([])
        private let gate = DispatchSemaphore(value: 0)

        var asked: [String] { names.withLock { $0 } }

        func lookUp(_ host: String) -> [IPAddress] {
            names.withLock { $0.append(host) }
            if host.contains("slow") {
                gate.wait()
                gate.signal()
            }
            return [IPAddress("8.8.8.8")!]
        }

        func letGo() { gate.signal() }
    }

    @Test func `names whose servers are silent delay no other tenant's, and no address`()
        async throws
    {
        let servers = SilentServers()
        let turns = FairTurns(.init(all: 8, ofTenantMax: 2), waiting: .init(all: 64))
        let resolver = SystemResolver(turns: turns) { servers.lookUp($0) }
        let acme = FairShare.Owner.tenant("acme")
        let slow = (0..<24).map { number in
            Task { try await resolver.addresses(of: "n\(number).slow.example", for: acme) }
        }
        try await eventually("two are looked up, the others wait") {
            servers.asked.count == 2 && turns.waitingCount == 22 ? true : nil
        }
        let globex = FairShare.Owner.tenant("globex")
        #expect(try await resolver.addresses(of: "a.example", for: globex).count == 1)
        // An address is looked up nowhere, not even for the tenant that waits.
        #expect(
            try await resolver.addresses(of: "192.0.2.1", for: acme) == [IPAddress("192.0.2.1")])
        #expect(try await resolver.addresses(of: "127.1", for: acme) == [IPAddress("127.0.0.1")])
        #expect(servers.asked.count == 3)
        // Callers that give up leave the queue; their threads are the tenant's until the look-ups end.
        for task in slow { task.cancel() }
        for task in slow { _ = await task.result }
        #expect(turns.waitingCount == 0)
        servers.letGo()
        #expect(try await resolver.addresses(of: "b.example", for: acme).count == 1)
    }
}
