import Edits
import Files
import Foundation
import SystemPackage
import Testing

@testable import Library

/// Two servers with a queue of one name share a library; neither knows the other's jobs.
@Suite("Sweeping") struct SweepingTests {
    private let f: LibraryFixture
    private let staged = StagedVersion(queue: "photos", job: "job", fence: "1")

    init() throws { f = try LibraryFixture() }

    private func other() throws -> LibraryFolder { try LibraryFolder(root: f.library.root) }

    @Test func `leaves alone what a living worker makes, until that is published or dead`() throws {
        let sweeper = try other()
        do {
            let worker = try other()
            let folder = try worker.staging.begin(staged)
            try f.put("half a render", at: folder.appending("a.jpg"))
            #expect(try sweeper.staging.sweepable(in: "photos") == [staged])
            #expect(try !sweeper.staging.sweep(staged))
            #expect(try !worker.staging.sweep(staged))
            #expect(try sweeper.files.list(folder) == ["a.jpg"])
            withExtendedLifetime(worker) {}
        }
        // The worker is gone, and with it its lock.
        #expect(try sweeper.staging.sweep(staged))
        #expect(try sweeper.staging.sweepable(in: "photos").isEmpty)
        #expect(try sweeper.files.list(f.library.root.appending("holds/photos")).isEmpty)
    }

    @Test func `takes what a worker left that was killed`() throws {
        _ = try f.library.staging.begin(staged)
        // Its lock goes with the library that took it, so another process has to have one.
        try f.library.staging.release(staged)
        let lock = f.library.staging.lockFile(of: staged)
        try f.put("", at: lock)
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = [
            "-c", #"exec 9<>"$0" && flock 9 && echo locked && exec sleep 600"#, lock.string,
        ]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        #expect(pipe.fileHandleForReading.readData(ofLength: 7) == Data("locked\n".utf8))
        #expect(try !f.library.staging.sweep(staged))
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        #expect(try f.library.staging.sweep(staged))
        #expect(try f.library.staging.sweepable(in: "photos").isEmpty)
    }

    @Test func `takes what a release staged that locked nothing, and locks without a version`()
        throws
    {
        _ = try f.library.staging.begin(staged)
        try f.library.staging.release(staged)
        let locked = StagedVersion(queue: "photos", job: "job", fence: "2")
        try f.put("", at: f.library.staging.lockFile(of: locked))
        #expect(try f.library.staging.sweepable(in: "photos") == [staged, locked])
        for version in [staged, locked] { #expect(try f.library.staging.sweep(version)) }
        #expect(try f.library.staging.sweepable(in: "photos").isEmpty)
    }

    @Test func `has nothing to do after a publication or a discarded version`() async throws {
        #expect(try await f.publish(VersionName(revision: 1, fence: "1"), on: nil) == .published)
        #expect(try f.library.staging.sweepable(in: "photos").isEmpty)
        _ = try f.library.staging.begin(staged)
        try f.library.staging.discard(staged)
        #expect(try f.library.staging.sweepable(in: "photos").isEmpty)
    }

    @Test func `does not take a version from the worker that begins it`() async throws {
        // A sweep that finds the lock before it is taken removes it; the worker then takes another.
        let library = f.library
        let sweeper = try other()
        try await withThrowingTaskGroup { group in
            group.addTask {
                for fence in 1...500 {
                    let staged = StagedVersion(queue: "photos", job: "job", fence: "\(fence)")
                    let folder = try library.staging.begin(staged)
                    _ = try sweeper.staging.sweep(staged)
                    #expect(try library.files.isFolder(folder))
                    try library.staging.discard(staged)
                }
            }
            group.addTask {
                for fence in (1...500).flatMap({ [$0, $0, $0] }) {
                    let staged = StagedVersion(queue: "photos", job: "job", fence: "\(fence)")
                    // Only the lock: a folder without one is anybody's.
                    if case .ours(let file) = try FileSystem.lock(
                        sweeper.staging.lockFile(of: staged), O_RDWR)
                    {
                        try sweeper.files.remove(sweeper.staging.lockFile(of: staged))
                        withExtendedLifetime(file) {}
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
