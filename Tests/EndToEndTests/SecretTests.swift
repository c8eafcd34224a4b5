import Foundation
import MinilabTesting
import Testing

@Suite("Secrets") struct SecretTests {
    private func server(_ folder: TemporaryFolder) async throws -> (RedisServer, String) {
        let file = folder.file("password")
        try Data("p w\"ä\n".utf8).write(to: URL(filePath: file))
        let server = try await RedisServer.start()
        // An ACL file has no quotes, so a password like this is given by its digest.
        try await server.command("ACL", "SETUSER", "op", "on", "#" + Self.digest, "~*", "+@all")
        return (server, file)
    }

    /// SHA-256 of `p w"ä`, by sha256sum.
    private static let digest = "61a6e29a31e43b4424d43ae4711af637e915652e0c9495ac877168cdd4c15f5d"

    @Test
    func `the password comes from a file, from the environment's name of one, or from systemd`()
        async throws
    {
        let folder = try TemporaryFolder()
        let (server, file) = try await server(folder)
        let credentials = folder.file("credentials")
        try FileManager.default.createDirectory(
            atPath: credentials, withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: file, toPath: credentials + "/redis-password")
        let status = ["status", "--redis", server.url(as: nil), "--redis-user", "op"]
        for (flags, environment) in [
            (["--redis-password-file", file], [:]),
            ([], ["MINILAB_REDIS_PASSWORD_FILE": file]),
            ([], ["CREDENTIALS_DIRECTORY": credentials]),
        ] as [([String], [String: String])] {
            let (ending, output) = try await MinilabProcess.run(
                status + flags, environment: environment)
            #expect(ending == .exited(0), "\(output)")
            #expect(!output.contains("warning"), "\(output)")
        }
        server.stop()
    }

    @Test(arguments: [
        ("", "is empty or has more than one line"), ("\n", "is empty or has more than one line"),
        ("two\nlines\n", "is empty or has more than one line"),
        (String(repeating: "x", count: 5000), "is not one line of UTF-8 of at most 4096 bytes"),
    ])
    func `a password file that cannot be one is refused without showing what is in it`(
        text: String, reason: String
    ) async throws {
        let folder = try TemporaryFolder()
        let file = folder.file("password")
        try Data(text.utf8).write(to: URL(filePath: file))
        let (ending, output) = try await MinilabProcess.run(
            ["status", "--redis-password-file", file])
        #expect(ending != .exited(0))
        #expect(output.contains("the password file \(file) \(reason)"), "\(output)")
        #expect(!output.contains("lines\n") && !output.contains("xxx"))
    }

    @Test func `a password that is not where it has to be is told, and so is one too many`()
        async throws
    {
        for (flags, reason) in [
            (["--redis-password-file", "/no/such/file"], "/no/such/file cannot be read"),
            (["--redis-user", "op"], "give --redis-password-file"),
            (
                ["--redis", "redis://a:b@127.0.0.1", "--redis-password-file", "/etc/hostname"],
                "give one of them"
            ),
        ] {
            let (ending, output) = try await MinilabProcess.run(["status"] + flags)
            #expect(ending != .exited(0))
            #expect(output.contains(reason), "\(output)")
        }
    }

    @Test func `a password in the command line and a clear way to another host are warned of`()
        async throws
    {
        let rig = try await Rig()
        let port = rig.server.port
        let inSight = "is shown to every user of this machine by ps"
        let inClear = "go in clear to"
        for (arguments, environment, warnings) in [
            (["--redis", "redis://default:any@127.0.0.1:\(port)"], [:], [inSight]),
            (["--redis", "redis://:any@localhost:\(port)"], [:], [inSight]),
            ([], ["MINILAB_REDIS": "redis://default:any@127.0.0.1:\(port)"], []),
            (["--redis", "redis://127.0.0.1:\(port)"], [:], []),
            (["--redis", "unix://" + rig.server.folder.file("redis.sock")], [:], []),
            // Nothing listens there; that is warned of before.
            (["--redis", "redis://192.0.2.1:1"], [:], [inClear]),
            (["--redis", "redis://127.evil.example:1"], [:], [inClear]),
            (["--redis", "redis+cluster://127.0.0.1:1,redis.example:1"], [:], [inClear]),
            (["--redis", "rediss://192.0.2.1:1"], [:], []),
        ] as [([String], [String: String], [String])] {
            let process = try MinilabProcess(["status"] + arguments, environment: environment)
            if warnings.contains(inClear) {
                _ = try await eventually("it warns: \(arguments)") {
                    process.output.contains(inClear) ? () : nil
                }
                process.kill(SIGKILL)
            }
            _ = try await process.waitForEnd()
            for warning in [inSight, inClear] {
                #expect(
                    process.output.contains(warning) == warnings.contains(warning),
                    "\(arguments): \(process.output)")
            }
            #expect(!process.output.contains(":any@"))
        }
    }

    @Test func `an operator's command does not care whether the settings of workers are right`()
        async throws
    {
        let rig = try await Rig()
        for command in [["top", "--once"], ["status"], ["doctor"], ["dead"]] {
            let (ending, output) = try await MinilabProcess.run(
                command + rig.server.flags(as: .operator),
                environment: ["MINILAB_SLOTS": "0", "MINILAB_EDITORS_TINT": "x"])
            #expect(ending == .exited(0), "\(command): \(output)")
        }
        try FileManager.default.createDirectory(
            atPath: rig.library + "/edits", withIntermediateDirectories: true)
        // A command about the library alone neither needs the queue's password nor asks how long a lease is.
        let (ending, output) = try await MinilabProcess.run(
            ["assets", "--library", rig.library],
            environment: ["MINILAB_LEASE": "0", "MINILAB_REDIS_PASSWORD_FILE": "/no/such/file"])
        #expect(ending == .exited(0), "\(output)")
    }

    @Test func `passwords of ops/deploy/secrets let each user in, and those of git nobody`()
        async throws
    {
        let folder = try TemporaryFolder()
        let secrets = folder.file("secrets")
        let script = Contract.folder.appending(path: "../ops/deploy/secrets").path
        _ = try Tool.run(script, [secrets])
        let first = try String(contentsOfFile: secrets + "/users.acl", encoding: .utf8)
        _ = try Tool.run(script, [secrets])
        #expect(try String(contentsOfFile: secrets + "/users.acl", encoding: .utf8) == first)
        let mode = try FileManager.default.attributesOfItem(atPath: secrets)[.posixPermissions]
        #expect(mode as? Int == 0o700)

        let server = try await RedisServer.start(arguments: ["--aclfile", secrets + "/users.acl"])
        for user in ["operator", "admin"] {
            let flags = ["status", "--redis", server.url(as: nil), "--redis-user", user]
            let (ending, output) = try await MinilabProcess.run(
                flags + ["--redis-password-file", "\(secrets)/redis-\(user)"])
            #expect(ending == .exited(0), "\(output)")
        }
        let (ending, output) = try await MinilabProcess.run([
            "status", "--redis", "redis://operator:change-me-operator@127.0.0.1:\(server.port)",
        ])
        #expect(ending != .exited(0) && output.contains("WRONGPASS"), "\(output)")
        server.stop()
    }
}
