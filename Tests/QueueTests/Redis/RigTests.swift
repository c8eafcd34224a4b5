import Foundation
import MinilabTesting
import Testing

/// `ops/checks/RIGS.md` has the one list of servers that are not as people are told to run them.
@Suite("Rigs") struct RigTests {
    private static let exceptionsMax = 15

    /// The rows of the list: what differs, and where.
    private func exceptions() throws -> [(name: String, place: String)] {
        let page = try String(
            contentsOf: Repository.root.appending(path: "ops/checks/RIGS.md"), encoding: .utf8)
        let list = try #require(
            page.firstMatch(of: /## Servers that are not as documented\n([^#]*)/)?.1)
        return list.split(separator: "\n").filter { $0.hasPrefix("| ") }.dropFirst().map {
            let cells = $0.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            return (cells[0], cells[1])
        }
    }

    @Test func `at most 15 servers are not as documented, each with its place and reason`() throws {
        let rows = try exceptions()
        #expect(!rows.isEmpty && rows.count <= Self.exceptionsMax, "\(rows)")
        for exception in RedisException.allCases {
            #expect(rows.contains { $0.name == exception.rawValue }, "\(exception)")
        }
    }

    @Test func `whatever starts a server of its own is in the list`() throws {
        let places = try exceptions().map(\.place).joined()
        let rules = ["Tests/Support/MinilabTesting/RedisServer.swift", "ops/lib/servers.py"]
        var starters: Set<String> = []
        for folder in ["Sources", "Tests", "ops"] {
            let root = Repository.root.appending(path: folder)
            for case let file as URL in FileManager.default.enumerator(
                at: root, includingPropertiesForKeys: nil)!
            where ["swift", "py"].contains(file.pathExtension) {
                let text = try String(contentsOf: file, encoding: .utf8)
                if text.contains(/\[(?:\*[\w.]+, )?"redis-server", "--port"|"redis-server"\] \+/) {
                    starters.insert(String(file.path.dropFirst(Repository.root.path.count)))
                }
            }
        }
        let trimmed = Set(starters.map { $0.hasPrefix("/") ? String($0.dropFirst()) : $0 })
        #expect(trimmed.contains("ops/lib/servers.py"), "the pattern finds what starts a server")
        for starter in trimmed.subtracting(rules) {
            #expect(places.contains(starter), "\(starter)")
        }
    }
}
