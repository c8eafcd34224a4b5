import Foundation
import MinilabTesting
import Redis
import Testing

@testable import JobQueue

/// What scripts call, and who runs them: a program asks for it at its start.
@Suite("Commands of scripts") struct ScriptCommandTests {
    private static let scripts = QueueProgram.allCases.flatMap { $0.scripts + $0.scriptsOfRecords }

    @Test func `a text names its commands, those with a subcommand as two words`() {
        let text = """
            local a = call('HSET', P .. 'x', 'STATE', '1') + redis.pcall('XADD', key)
            pcall(part) -- call(name)
            call('XINFO', 'STREAM', key) call('INFO', 'replication') call('TIME')
            """
        #expect(
            ScriptCommands.names(in: Array(text.utf8)) == [
                "HSET", "XADD", "XINFO STREAM", "INFO", "TIME",
            ])
    }

    @Test func `each script in the folder is in the list of a program`() throws {
        let folder = Repository.root.appending(path: "Sources/Queue/JobQueue/Scripts")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".lua") }.map { String($0.dropLast(4)) }
        #expect(files.count > 30)
        #expect(Set(files).subtracting(Self.scripts.map(\.name)) == [])
    }

    @Test func `no script calls a command whose name it makes up`() {
        for script in Self.scripts {
            let text = String(decoding: script.source, as: UTF8.self)
            let calls = text.matches(of: /redis\.p?call\(|[^.\w]call\(/).count
            let named = text.matches(of: /call\('[A-Z]+'/).count
            #expect(calls == named, "\(script.name)")
        }
    }

    @Test func `each command has a form that the server takes, and is known to read or to write`()
        async throws
    {
        let q = try await QueueFixture()
        let names = QueueProgram.allCases.flatMap { $0.commands + $0.commandsOfRecords }
        for name in Set(names).sorted() {
            let call = try #require(
                ScriptCommands.call(name, key: q.queue.name.keys.virtual), "\(name)")
            let words = call.map { RedisArgument($0) }
            let answer = try await q.redis.send(["ACL", "DRYRUN", "default"] + words)
            #expect(answer.string == "OK", "\(name): \(answer)")
            let info = try await q.redis.send([
                "COMMAND", "INFO", RedisArgument(name.replacing(" ", with: "|").lowercased()),
            ])
            let flags = info.array?.first?.array?[2].array?.compactMap(\.string) ?? []
            #expect(flags.contains("write") == (ScriptCommands.writing[name] != nil), "\(name)")
        }
    }

    @Test func `scripts that only read are those that must run in each state of a server`() {
        let reading = Set(
            Self.scripts.filter { $0.source.starts(with: QueueScript.reads.utf8) }.map(\.name))
        #expect(
            reading == [
                "census", "explain", "rights", "inspect", "inspect_flows", "inspect_groups",
                "inspect_times", "inspect_stored", "inspect_batch",
            ])
        for script in [QueueScript.census, QueueScript.explain, QueueScript.rights] {
            let writes = ScriptCommands.names(in: script.source)
                .filter { ScriptCommands.writing[$0] != nil }
            #expect(writes == [], "\(script.name)")
        }
    }
}
