import Edits
import Foundation
import Glibc
import MinilabTesting
import RenderProtocol
import SystemPackage
import Testing

@testable import Editing
@testable import Library
@testable import RenderPool

/// What a real child has of a library while it renders.
@Suite("Files of a render child at work", .timeLimit(.minutes(10))) struct OpenFilesTests {
    @Test func `are its own three, one photo and places without a name`() async throws {
        let bench = try Workbench()
        let photo = try bench.put("a.png", SyntheticPhoto.png(width: 64, height: 48))
        try bench.put("other.png", SyntheticPhoto.png(width: 64, height: 48, seed: 1))
        let real = try Programs.path(of: "minilab-render")
        let script = try bench.folder.script(
            "child",
            "echo $$ > \"$0.pid\"\n\(TestPoint.variable)=\(TestPoint.midRender.rawValue) exec '\(real)'"
        )
        let pool = RenderPool(
            settings: RenderSettings(executable: FilePath(script)),
            logger: Workbench.logger)
        let editor = AssetEditor(
            library: bench.library, pool: pool, editors: bench.editors, limits: RenderLimits(),
            resources: nil)
        let job = bench.job()
        let edit = try Edit(
            json: #"{"filters":[{"name":"CISepiaTone"}],"output":{"previews":[16]}}"#)
        let making = Task { try await editor.make(edit, of: photo, job) }
        let pid = try await eventually("the child says its pid") {
            pid_t(bench.folder.text(of: "child.pid").dropLast())
        }
        // Not between its requests, where it stands still, too.
        let open = try await eventually("the child stands still in its render") {
            guard RenderChildTests.state(of: pid) == "T" else { return nil as OpenInodes? }
            let open = try OpenInodes(of: pid)
            return open.writable.isEmpty ? nil : open
        }
        let root = bench.folder.path
        let ours = open.targets.filter { $0.contains(root) || $0.contains("library") }
        // The photo may have a second descriptor, by which its metadata are read.
        #expect(Set(ours.filter { !$0.hasSuffix(" (deleted)") }).count == 1, "\(open.targets)")
        #expect(ours.contains { $0.hasSuffix("originals/a.png") }, "\(open.targets)")
        // Placeholder, photo, preview and spool; an encoder may have a second descriptor of its place.
        let nameless = ours.filter { $0.hasSuffix(" (deleted)") }
        #expect(Set(nameless).count == 4, "\(open.targets)")
        // Beside them how much memory it has itself.
        let rest = Set(open.targets).subtracting(ours).subtracting(["/proc/\(pid)/status"])
        #expect(rest.count == 3 && !rest.contains { $0.hasPrefix("/") }, "\(open.targets)")
        #expect(open.writable.count == 4)
        let tree = try LibraryTree(bench.library.root)
        #expect(open.writable.isDisjoint(with: tree.entries.values.map(\.inode)))
        // Its root, where the kernel grants it one, has no library.
        var (itsRoot, ourRoot) = (stat(), stat())
        #expect(stat("/proc/\(pid)/root/", &itsRoot) == 0)
        #expect(stat("/", &ourRoot) == 0)
        if (itsRoot.st_dev, itsRoot.st_ino) != (ourRoot.st_dev, ourRoot.st_ino) {
            #expect(access("/proc/\(pid)/root\(root)", F_OK) != 0)
        }

        #expect(kill(pid, SIGCONT) == 0)
        guard case .made(let version, _) = try await making.value, let content = version.content
        else {
            Issue.record("nothing was made")
            return
        }
        let folder = bench.library.staging.folder(of: job.staged)
        for name in content.fileNames {
            var status = stat()
            #expect(stat(folder.pushing(FilePath(name)).string, &status) == 0)
            #expect(!open.all.contains(UInt64(status.st_ino)), "\(name) was open in a child")
        }
        withExtendedLifetime(open) {}
        await pool.close()
        await bench.pool.close()
    }
}
