import Edits
import Foundation
import MinilabTesting
import Testing

@testable import Webhooks

@Suite("Signed messages") struct SigningTests {
    /// A receiver's side, written from the specification alone.
    private func verify(
        _ headers: [String: String], _ body: [UInt8], secret: String, now: Int
    ) -> Bool {
        guard let id = headers["webhook-id"], let time = headers["webhook-timestamp"],
            let seconds = Int(time), abs(now - seconds) <= 300,
            let key = Data(base64Encoded: String(secret.dropFirst("whsec_".count)))
        else { return false }
        let expected = HMAC.sha256(
            of: Data("\(id).\(time).".utf8) + Data(body), key: key)
        return (headers["webhook-signature"] ?? "").split(separator: " ").contains { signature in
            signature == "v1," + Data(expected).base64EncodedString()
        }
    }

    private func headers(_ message: SignedMessage) -> [String: String] {
        Dictionary(uniqueKeysWithValues: message.headers.map { ($0.name, $0.value) })
    }

    @Test func `a message verifies; altered, under another name, replayed or skewed it does not`() {
        let secret = WebhookSecret()
        let body = Array(#"{"a":1}"#.utf8)
        let message = SignedMessage(id: "msg_a", body: body, seconds: 10_000, secrets: [secret])
        let sent = headers(message)
        func isAccepted(
            _ headers: [String: String], _ body: [UInt8], _ secret: WebhookSecret = secret,
            at now: Int = 10_000
        ) -> Bool { verify(headers, body, secret: secret.revealed, now: now) }

        #expect(isAccepted(sent, body))
        #expect(isAccepted(sent, body, at: 10_300) && isAccepted(sent, body, at: 9_700))
        #expect(!isAccepted(sent, body, at: 10_301) && !isAccepted(sent, body, at: 9_699))
        #expect(!isAccepted(sent, body + [0x20]))
        #expect(!isAccepted(sent, body, WebhookSecret()))
        var renamed = sent
        renamed["webhook-id"] = "msg_b"
        #expect(!isAccepted(renamed, body))
        // A replay with a fresh time has the old signature.
        var replayed = sent
        replayed["webhook-timestamp"] = "20000"
        #expect(!isAccepted(replayed, body, at: 20_000))
    }

    @Test func `while secrets rotate either verifies, and an ended one signs no more`() throws {
        let (old, new) = (WebhookSecret(), WebhookSecret())
        var stored = StoredEndpoint(
            endpoint: WebhookEndpoint(
                id: "a", owner: WebhookOwner(tenant: nil, assetPrefix: ""),
                url: "https://a.example",
                eventTypes: WebhookEventTypes.usual, state: .active, createdAt: 0), secret: old)
        stored.rotate(to: new, at: 1000)
        #expect(try stored.signing(at: 1001) == [new, old])
        #expect(try stored.signing(at: 1000 + StoredEndpoint.rotationOverlap) == [new])
        let message = SignedMessage(
            id: "msg_a", body: [], seconds: 1, secrets: try stored.signing(at: 1001))
        for secret in [old, new] {
            #expect(verify(headers(message), [], secret: secret.revealed, now: 1))
        }
        let third = WebhookSecret()
        stored.rotate(to: third, at: 2000)
        #expect(try stored.signing(at: 2001) == [third, new])
    }

    @Test func `a message's id is the same for the same event and endpoint, and has no dot`() {
        let id = SignedMessage.id(event: "photos/a.b/1/completed", endpoint: "e")
        #expect(id == SignedMessage.id(event: "photos/a.b/1/completed", endpoint: "e"))
        #expect(!id.contains(".") && id.utf8.count == 36)
        #expect(id != SignedMessage.id(event: "photos/a.b/1/completed", endpoint: "f"))
        #expect(id != SignedMessage.id(event: "photos/a.b/2/completed", endpoint: "e"))
    }

    @Test(arguments: ["", "whsec_", "whsec_AAAA", "AAAA", "whsec_%%%", "wrong_AAAA"])
    func `what is no secret is refused and not repeated`(_ text: String) {
        #expect { try WebhookSecret(text) } throws: {
            ($0 as? WebhookError)?.code == .invalidSecret
        }
        let secret = WebhookSecret()
        var dumped = ""
        dump(secret, to: &dumped)
        let shown = "\(secret) \(dumped)"
        #expect(
            !shown.contains(secret.revealed.dropFirst(6))
                && (try? WebhookSecret(secret.revealed)) == secret)
    }

    /// Python with the reference library of Standard Webhooks: ops/setup puts it there.
    private static let python = Contract.folder.deletingLastPathComponent()
        .appending(path: ".build-test/standardwebhooks-1.1.0/bin/python3").path

    @Test(
        .enabled("needs standardwebhooks of PyPI: ops/setup") {
            FileManager.default.isExecutableFile(atPath: python)
        })
    func `the reference library verifies what we sign, and refuses what was altered`() throws {
        let (old, new) = (WebhookSecret(), WebhookSecret())
        let now = Int(Date.now.timeIntervalSince1970)
        let body = Array(#"{"specversion":"1.0","id":"a/b.c","data":{"ä":"é ✓"}}"#.utf8)
        let program = """
            import base64, json, sys
            from standardwebhooks import Webhook, WebhookVerificationError
            for line in sys.stdin:
                case = json.loads(line)
                try:
                    Webhook(case["secret"]).verify(base64.b64decode(case["body"]), case["headers"])
                    print("taken")
                except WebhookVerificationError:
                    print("refused")
            """
        struct Case: Encodable {
            let secret: String
            let body: String
            let headers: [String: String]
        }
        func line(_ message: SignedMessage, _ secret: WebhookSecret, _ body: [UInt8]) throws
            -> String
        {
            let item = Case(
                secret: secret.revealed, body: Data(body).base64EncodedString(),
                headers: headers(message))
            return String(decoding: try JSONEncoder().encode(item), as: UTF8.self)
        }
        func message(_ seconds: Int) -> SignedMessage {
            SignedMessage(id: "msg_a", body: body, seconds: seconds, secrets: [new, old])
        }
        let lines = try [
            line(message(now), new, body), line(message(now), old, body),
            line(message(now), WebhookSecret(), body), line(message(now), new, body + [0x20]),
            line(message(now - 400), new, body), line(message(now + 400), new, body),
        ]
        let output = try Tool.run(
            Self.python, ["-c", program], input: Data(lines.joined(separator: "\n").utf8))
        #expect(
            String(decoding: output, as: UTF8.self).split(separator: "\n")
                == ["taken", "taken", "refused", "refused", "refused", "refused"])
    }
}
