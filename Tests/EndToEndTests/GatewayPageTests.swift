import Edits
import Foundation
import MinilabTesting
import Testing

/// The first steps of a reader of jobs/HTTP.md: its commands and programs as they stand there, but for the port.
@Suite("The examples over HTTP") struct GatewayPageTests {
    @Test func `curl, Python and Node do what jobs/HTTP.md says`() async throws {
        let rig = try await Rig()
        let photo = Contract.folder.appending(path: "photos/chrysanthemum.jpg")
        try FileManager.default.copyItem(
            atPath: photo.path, toPath: rig.folder.file("IMG_0001.JPG"))
        let (made, output) = try await MinilabProcess.run(
            [
                "key", "create", "--tenant", "acme", "--prefix", "acme/",
                "--scope", "enqueue,read", "--json",
            ] + rig.server.flags(as: .operator))
        try #require(made == .exited(0), "\(output)")
        let key = try #require(
            try JSONValue(parsing: output, as: "key").fields?["secret"]?.text)
        let gateway = try MinilabProcess(
            ["gateway", "--library", rig.library, "--port", "0"] + rig.server.flags(as: .gateway))
        let port = try await portOfReady(gateway)
        let worker = try rig.worker("w")
        let page = try Page("jobs/HTTP.md")

        func run(_ program: String, _ arguments: [String], _ text: String) throws -> String {
            let script = rig.folder.file("example.mjs")
            try text.replacing("localhost:8080", with: "localhost:\(port)")
                .write(toFile: script, atomically: true, encoding: .utf8)
            let output = try Tool.run(
                "/usr/bin/env",
                ["-C", rig.folder.path, "MINILAB_KEY=\(key)", program] + arguments + [script])
            return String(decoding: output, as: UTF8.self)
        }
        let curl = try #require(page.blocks("bash").first)
        let said = try run("bash", ["-e"], curl)
        #expect(said.contains(#""code":"published""#), "\(said) \(worker.output)")
        let sepia = try Data(contentsOf: URL(filePath: rig.folder.file("sepia.jpg")))
        #expect(sepia.starts(with: [0xFF, 0xD8]))

        let python = try #require(page.blocks("py").first)
        let printed = try run("python3", [], python)
        #expect(printed.hasPrefix("done "), "\(printed)")
        #expect(printed.contains("org.minilab.job.completed acme/IMG_0001.JPG"), "\(printed)")

        let node = try #require(page.blocks("mjs").first)
        let shown = try run("node", [], node)
        #expect(shown.contains("sealed: 1"), "\(shown)")
        gateway.kill(SIGTERM)
        #expect(try await gateway.waitForEnd() == .exited(0), "\(gateway.output)")
        worker.kill(SIGTERM)
        _ = try await worker.waitForEnd()
    }
}
