import Foundation
import MinilabTesting
import Testing

@Suite("The address of a library") struct LibraryAddressTests {
    /// Arguments of `minilab worker`, and what it says of them.
    struct Mistake: Sendable, CustomTestStringConvertible {
        let flags: [String]
        let sentence: String
        var testDescription: String { flags.joined(separator: " ") }
    }

    private static let mistakes = [
        Mistake(
            flags: ["--library", "s3://photos/lab", "--originals", "/srv/originals"],
            sentence: "both must be folders, or both must be s3:// URLs"),
        Mistake(
            flags: ["--library", "/srv/photos", "--originals", "s3://photos"],
            sentence: "both must be folders, or both must be s3:// URLs"),
        Mistake(flags: ["--library", "s3://Photos"], sentence: "the bucket is \"Photos\""),
        Mistake(
            flags: ["--library", "s3://photos", "--scratch-size", "1K"],
            sentence: "scratch.size = \"1K\""),
    ]

    @Test(arguments: mistakes)
    func `a mistake is told before anything begins`(mistake: Mistake) async throws {
        let (ending, output) = try await MinilabProcess.run(
            ["worker", "--redis", "redis://127.0.0.1:1"] + mistake.flags)
        #expect(ending == .exited(64) || ending == .exited(1))
        #expect(output.contains(mistake.sentence), "\(output)")
    }

    @Test func `a folder that workers can use is found so, and left as it was`() async throws {
        let folder = try TemporaryFolder()
        let check = ["library", "check", "--library"]
        let (ending, output) = try await MinilabProcess.run(check + [folder.path])
        #expect(ending == .exited(0), "\(output)")
        #expect(output.contains("ok: locks hold (flock)\n"), "\(output)")
        #expect(output.contains("ok: files share their bytes (hard links)\n"), "\(output)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        let (failed, none) = try await MinilabProcess.run(check + ["/proc/none"])
        #expect(failed == .exited(1) && none.contains("failed: workers write: "), "\(none)")
    }

    @Test func `a store that nobody can reach, and one without keys, are sentences`() async throws {
        let folder = try TemporaryFolder()
        func run(_ environment: [String: String]) async throws -> String {
            let (ending, output) = try await MinilabProcess.run(
                [
                    "assets", "--library",
                    "s3://photos/lab?endpoint=http://127.0.0.1:1&region=us-east-1",
                ],
                environment: [
                    "MINILAB_SCRATCH": folder.path, "AWS_EC2_METADATA_DISABLED": "true",
                    "HOME": folder.path,
                ].merging(environment) { $1 })
            #expect(ending == .exited(1))
            return output
        }
        let keyless = try await run([:])
        #expect(keyless.contains("Set AWS_ACCESS_KEY_ID"), "\(keyless)")
        let secret = "not-to-be-seen-anywhere"
        let unreachable = try await run([
            "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": secret,
        ])
        #expect(unreachable.contains("127.0.0.1:1 cannot be reached"), "\(unreachable)")
        #expect(!unreachable.contains(secret))
    }
}
