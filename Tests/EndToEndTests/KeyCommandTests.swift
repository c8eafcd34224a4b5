import Edits
import Foundation
import MinilabTesting
import Redis
import Testing

@Suite("minilab key") struct KeyCommandTests {
    @Test func `a key is made, listed without its secret, and revoked`() async throws {
        let rig = try await Rig()
        func run(_ words: String...) async throws -> (MinilabProcess.Ending, String) {
            let (ending, output) = try await MinilabProcess.run(
                ["key"] + words + rig.server.flags(as: .operator))
            return (ending, output)
        }
        let (made, output) = try await run(
            "create", "--tenant", "acme", "--prefix", "acme/", "--scope", "enqueue,read",
            "--label", "shop", "--expires", "90d", "--backlog", "500", "--rate", "20", "--burst",
            "100", "--upload-per-day", "20G", "--cors-origin", "https://photos.example", "--json")
        #expect(made == .exited(0), "\(output)")
        let fields = try #require(try JSONValue(parsing: output, as: "key").fields)
        let secret = try #require(fields["secret"]?.text)
        let id = try #require(fields["key"]?.fields?["id"]?.text)
        #expect(secret.hasPrefix("mlk_\(id)_") && secret.utf8.count == 69)
        #expect(fields["key"]?.fields?["quotas"]?.fields?["backlogMax"] == .number(500))

        let (other, printed) = try await run(
            "create", "--operator", "--scope", "read,operate,admin", "--label", "Ana\u{1B}[2J")
        #expect(other == .exited(1) && printed.contains("label"), "\(printed)")
        let (second, shown) = try await run("create", "--operator", "--scope", "operate")
        #expect(second == .exited(0))
        #expect(shown.hasPrefix("mlk_") && shown.contains("It is shown this once"), "\(shown)")

        let (listed, table) = try await run("list")
        #expect(listed == .exited(0))
        #expect(table.contains(id) && table.contains("(operator)") && table.contains("shop"))
        let random = secret.split(separator: "_")[2]
        #expect(!table.contains(random))
        #expect(try await !run("list", "--json").1.contains(random))
        #expect(try await !run("list", "--tenant", "acme").1.contains("(operator)"))

        #expect(table.contains("backlog 500, rate 20, burst 100, upload 20G a day"), "\(table)")
        #expect(table.contains("the gateway's"), "\(table)")
        let (set, changed) = try await run(
            "set", id, "--backlog", "50000", "--rate", "none", "--stored", "200M")
        #expect(
            set == .exited(0)
                && changed == "\(id): backlog 50000, upload 20G a day, stored 200M\n", "\(changed)")
        #expect(try await run("list").1.contains("backlog 50000, upload 20G a day, stored 200M"))
        let (bad, why) = try await run("set", id, "--burst", "10")
        #expect(bad == .exited(1) && why.contains("requestBurst"), "\(why)")
        #expect(try await run("set", id).0 == .exited(64))
        #expect(try await run("set", id, "--backlog", "0").0 == .exited(64))

        #expect(try await run("revoke", id) == (.exited(0), "\(id): revoked\n"))
        #expect(try await run("list", "--tenant", "acme").1.contains("revoked"))
        #expect(try await run("set", id, "--backlog", "1").0 == .exited(1))
        #expect(try await run("revoke", "000000000000").0 == .exited(1))
        // A whole key in place of its id is not repeated on the terminal.
        let (refused, words) = try await run("revoke", secret)
        #expect(refused == .exited(64) && !words.contains(random), "\(words)")
    }

    @Test(arguments: [
        ["--scope", "read"], ["--tenant", "acme", "--scope", "read"],
        ["--tenant", "acme", "--operator", "--prefix", "a/", "--scope", "read"],
        ["--tenant", "acme", "--prefix", "a/", "--scope", "write"],
        ["--tenant", "acme", "--prefix", "../", "--scope", "read"],
        ["--tenant", "a.b", "--prefix", "a/", "--scope", "read"],
        ["--tenant", "acme", "--prefix", "a/", "--scope", "read", "--expires", "soon"],
        ["--tenant", "acme", "--prefix", "a/", "--scope", "read", "--upload-per-day", "-1"],
    ])
    func `terms that make no sense make no key`(_ arguments: [String]) async throws {
        let rig = try await Rig()
        let (ending, output) = try await MinilabProcess.run(
            ["key", "create"] + rig.server.flags(as: .operator) + arguments)
        #expect(ending != .exited(0) && !output.contains("mlk_"), "\(output)")
        #expect(try await rig.redis.send(["EXISTS", "minilab-gateway:{photos}:keys"]).int == 0)
    }
}
