import Edits
import FoundationEssentials
import Library
import MinilabTesting
import ServiceTesting
import SystemPackage
import Testing

@testable import BlobStore
@testable import BucketLibrary

/// The rights that `ops/deploy/iam` gives, judged by the only server here that reads such policies.
@Suite("Policies", .timeLimit(.minutes(10)))
struct PolicyDocumentTests {
    /// A thing that somebody does with the library, by name.
    private typealias Deed = (
        name: String, body: @Sendable (BucketFixture, S3Client) async throws -> Void
    )

    private struct Undone: Error, CustomStringConvertible { let description: String }

    private static let worker: [Deed] = [
        ("begins the library", { f, _ in try await f.library.checkFormat(beginning: true) }),
        (
            "asks whether conditions are kept",
            { _, client in try await client.probe(BlobKey(BucketLibrary.probeFile)) }
        ), ("opens the original", { f, _ in _ = try await f.library.open(.original(f.asset)) }),
        ("looks for a video", { f, _ in _ = try await f.library.pairedVideos(of: f.asset) }),
        ("publishes", { f, _ in _ = try await f.publish(version(1), on: nil, text: "one") }),
        (
            "goes on",
            { f, _ in
                _ = try await f.anotherMachine().publish(version(2), on: version(1), text: "two")
            }
        ),
        (
            "undoes",
            { f, _ in
                _ = try await f.anotherMachine().publish(
                    version(3), on: version(2), showing: version(1))
            }
        ),
        (
            "drafts",
            { f, _ in
                _ = try await f.publish(version(4), on: version(3), text: "four", isDraft: true)
            }
        ), ("reads", { f, _ in _ = try await f.anotherMachine().currentText() }),
        (
            "makes renditions",
            { f, _ in
                for revision in 2...3 {
                    let staged = f.staged(version(revision), job: "renditions")
                    let made = try StoredRendition.test("web", "web", in: staged, f.library)
                    _ = try await f.library.add(
                        ["web": made], to: version(revision), of: f.asset, from: staged)
                }
            }
        ),
        (
            "keeps dead jobs",
            { f, _ in
                _ = try await f.library.append(
                    deadLetters: Array("{}\n".utf8), of: "photos", at: .now)
            }
        ),
        (
            "shares a render",
            { f, _ in
                let sharing = try f.anotherMachine { $0.sharesRenders = true }
                guard case .claimed(let entry) = try await sharing.claim() else { return }
                let staged = try await sharing.seal(version(5), on: version(3), key: .test())
                let sealed = try await sharing.library.record(version(5), f.asset)
                guard let sealed else { throw Undone(description: "nothing was sealed") }
                try await entry.offer(sealed, of: f.asset, in: staged)
            }
        ),
        (
            "aborts an upload that fails",
            { f, client in
                let folder = try TemporaryFolder()
                let file = try FileDescriptor.open(
                    FilePath(folder.file("short")), .readWrite, options: .create,
                    permissions: .ownerReadWrite)
                try file.writeAll([UInt8](repeating: 0, count: 6 << 20))
                var failures: [BlobError] = []
                for key in ["edits/short", "sizes/short"] {
                    do throws(BlobError) {
                        try await client.put(
                            BlobKey(key), .file(file, size: 20 << 20), digest: BlobDigest(of: []))
                    } catch {
                        if error.code != .local { failures.append(error) }
                    }
                }
                try file.close()
                if let failed = failures.first { throw failed }
            }
        ),
    ]

    /// With what another one has written: who wrote an object may read it on Ceph in any case.
    private static let heir: [Deed] = [
        ("finds the library", { f, _ in try await f.library.checkFormat(beginning: true) }),
        ("reads", { f, _ in _ = try await f.currentText() }),
        (
            "finds renditions",
            { f, _ in
                _ = try await f.library.link(
                    sizesOf: version(3), f.asset, into: f.staged(version(6)))
            }
        ),
        (
            "undoes",
            { f, _ in _ = try await f.publish(version(6), on: version(3), showing: version(2)) }
        ),
        (
            "finds a shared render",
            { f, _ in
                let sharing = try f.anotherMachine { $0.sharesRenders = true }
                _ = try await sharing.claim()
            }
        ),
    ]

    private static let deeds = [
        "worker": worker, "heir": heir, "reader": reader, "collector": collector,
    ]

    private static let reader: [Deed] = [
        ("finds the library", { f, _ in try await f.library.checkFormat(beginning: false) }),
        ("lists", { f, _ in _ = try await f.library.assets(after: nil) }),
        ("opens the original", { f, _ in _ = try await f.library.open(.original(f.asset)) }),
        ("reads", { f, _ in _ = try await f.currentText() }),
        ("tells the history", { f, _ in _ = try await f.library.history(of: f.asset) }),
        (
            "lists renditions",
            { f, _ in _ = try await f.library.sizes(of: version(3), f.asset) }
        ),
        (
            "replays dead jobs",
            { f, _ in
                _ = try await f.library.forEachDeadLetterFile(
                    at: "s3://photos/lib/dead/", of: "photos", until: .distantFuture
                ) { _ in }
            }
        ),
    ]

    private static let collector: [Deed] = [
        ("finds the library", { f, _ in try await f.library.checkFormat(beginning: false) }),
        ("lists", { f, _ in _ = try await f.library.assets(after: nil) }),
        (
            "collects renditions",
            { f, _ in
                _ = try await f.library.collect(
                    f.asset, keeping: Retention(versions: 9, age: nil, renditions: .current),
                    now: Date(timeIntervalSinceNow: 2 * 86_400), isDryRun: false)
                guard try await f.library.sizes(of: version(2), f.asset).names.isEmpty else {
                    throw Undone(description: "s3:PutObject is missing: a list is as it was")
                }
            }
        ),
        (
            "collects",
            { f, _ in
                for days in [0.0, 2, 4] {
                    _ = try await f.library.collect(
                        f.asset, keeping: Retention(versions: 1, age: nil),
                        now: Date(timeIntervalSinceNow: days * 86_400), isDryRun: false)
                }
                guard try await f.library.stored(of: f.asset)["2-2"] == nil else {
                    throw Undone(description: "s3:DeleteObject is missing: objects are left")
                }
            }
        ),
        (
            "removes a shared render",
            { f, _ in
                let later = try f.anotherMachine {
                    $0.now = { Date(timeIntervalSinceNow: 31 * 86_400) }
                }
                try await later.library.removeUnusedRenderRecords()
            }
        ),
    ]

    @Test(
        .enabled("\(StoreServer.ceph.needs)") { StoreServer.ceph.isHere }, .serialized,
        arguments: ["worker", "reader", "collector"])
    func `a policy is enough, and nothing in it is too much`(name: String) async throws {
        func firstFailure(_ policy: PolicyDocument) async throws -> String? {
            if let failed = try await self.firstFailure(of: name, under: policy) { return failed }
            guard name == "worker" else { return nil }
            return try await self.firstFailure(of: "heir", under: policy)
        }
        let policy = try PolicyDocument(name).forCeph
        #expect(try await firstFailure(policy) == nil)
        // Versions that the head has no room for are read from there: two hundred edits, which no test makes here.
        let beyond = PolicyDocument.Line(
            action: "s3:GetObject", resource: "arn:aws:s3:::BUCKET/PREFIX/edits/*")
        for line in policy.lines where name != "collector" || line != beyond {
            let failed = try await firstFailure(policy.without(line))
            // The sentence tells which right to give.
            #expect(failed != nil, "\(name) does not need \(line.action) on \(line.resource)")
            #expect(failed?.contains(line.action) == true, "\(line): \(failed ?? "")")
        }
    }

    /// The first deed that fails, with its error; nil when all can be done.
    private func firstFailure(of role: String, under policy: PolicyDocument) async throws -> String?
    {
        let store = try await TestStore(on: .ceph)
        let asset = "2024/a.jpg"
        try await store.withClient { admin in
            try await admin.put(
                BlobKey("originals/\(asset)"), Array(BucketFixture.original.utf8))
            guard role != "worker" else { return }
            let f = try BucketFixture(store: admin, asset: asset)
            for deed in Self.worker.dropLast() { try await deed.body(f, admin) }
        }
        try await SharedCeph.limit(to: policy.text(at: store))
        let deeds = Self.deeds[role] ?? []
        var failed: String?
        try await store.withClient(keys: .limited) {
            ($0.wholePutBytesMax, $0.partBytes) = (5 << 20, 5 << 20)
        } body: { client in
            let f = try BucketFixture(store: client, asset: asset)
            for deed in deeds where failed == nil {
                do { try await deed.body(f, client) } catch { failed = "\(deed.name): \(error)" }
            }
        }
        guard failed == nil, try await store.hasUpload() else { return failed }
        return "s3:AbortMultipartUpload is missing: parts are left"
    }
}
