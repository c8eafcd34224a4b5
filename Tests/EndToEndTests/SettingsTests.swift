import Foundation
import MinilabTesting
import Testing

@Suite("Settings") struct SettingsTests {
    private static let programs = [["minilab", "worker"], ["minilab-gateway"]]

    @Test func `the settings reference is what the programs declare`() throws {
        let ops = Contract.folder.appending(path: "../ops").standardizedFileURL
        for program in ["minilab", "minilab-gateway"] { _ = try Programs.path(of: program) }
        let page = try Tool.run(
            ops.appending(path: "lib/generate/settings-page").path, [Programs.folder.path])
        let written = try Data(contentsOf: ops.appending(path: "SETTINGS.md"))
        #expect(page == written, "run ops/generate")
        // It is made by a shell script, which could lose all of them alike.
        let text = String(decoding: written, as: UTF8.self)
        #expect(text.contains("| `render.timeout` | `MINILAB_RENDER_TIMEOUT` | "))
        #expect(text.contains("| `gateway.port` | `MINILAB_GATEWAY_PORT` | "))
    }

    @Test(arguments: programs)
    func `every default in the list is one that the program takes when it is said`(
        program: [String]
    ) async throws {
        let (_, list) = try await MinilabProcess.run(
            program.dropFirst() + ["--list-settings"], executable: program[0],
            environment: ["MINILAB_LIBRARY": "/nowhere"])
        var said: [String: String] = [:]
        for entry in list.split(separator: "\n\n") {
            let names = try #require(
                entry.firstMatch(
                    of: /^\s*([a-zA-Z0-9.]+)  (MINILAB_[A-Z0-9_]+)$/.anchorsMatchLineEndings()))
            let usual = try #require(
                entry.firstMatch(of: /Default: (.*)\.$/.anchorsMatchLineEndings()))
            // Words such as "one per core" are no value.
            if !usual.1.contains(" "), usual.1 != "none" { said[String(names.2)] = String(usual.1) }
        }
        #expect(said.count > 10)
        let library = ["MINILAB_LIBRARY": "/nowhere"]
        let (ending, output) = try await MinilabProcess.run(
            program.dropFirst() + ["--list-settings"], executable: program[0],
            environment: said.merging(library) { $1 })
        #expect(ending == .exited(0), "\(output.suffix(500))")
        for (variable, value) in said where variable != "MINILAB_REDIS" {
            #expect(output.contains("Now: \(value) (from \(variable))."), "\(variable)")
        }
    }

    @Test func `the list says each value and where it comes from, but for passwords`() async throws
    {
        let (ending, output) = try await MinilabProcess.run(
            ["worker", "--list-settings", "--lease", "3s", "--library", "/nowhere"],
            environment: ["MINILAB_REDIS": "redis://me:secret@127.0.0.1"])
        #expect(ending == .exited(0))
        #expect(output.contains("Now: 3s (from --lease)."))
        #expect(output.contains("Now: (not shown) (from MINILAB_REDIS)."))
        #expect(!output.contains("secret"))
    }

    @Test func `a setting of a gateway is named by the flag that says it`() async throws {
        let (ending, output) = try await MinilabProcess.run(
            ["--port", "many", "--library", "/nowhere"], executable: "minilab-gateway")
        #expect(ending != .exited(0))
        #expect(output.contains(#"gateway.port = "many" (from --port): expected a whole number"#))
    }
}
