import BlobStore
import BucketLibrary
import Edits
import FoundationEssentials
import Library
import Logging
import Operations

/// The checks that try the operations of workers and of `gc` on a bucket.
struct BucketCheck {
    let settings: BucketSettings
    let store: S3Client
    let originals: S3Client
    private let clients: [S3Client]
    /// A unique test object, so that two concurrent checks do not interfere.
    private let probe: BlobKey

    /// The largest clock offset without a warning, in seconds. Stores refuse signatures from 15 minutes on.
    private static let clockOffsetMax = 60

    typealias Finding = LibraryFinding

    init(_ settings: BucketSettings, _ logger: Logger) throws {
        self.settings = settings
        probe = try BlobKey("edits/probe-\(UUID().uuidString)")
        (store, originals) = try settings.clients(logger)
        clients = store === originals ? [store] : [store, originals]
    }

    func close() async { for client in clients { await client.close() } }

    /// Runs all checks, but stops after a failure that makes all others fail.
    ///
    /// - Throws: `laterFormat`.
    func run() async throws(Failure) -> [Finding] {
        var findings = [clear()]
        findings.append(
            await finding("workers list and read the library") { () async throws(BlobError) in
                _ = try await store.list("current/", after: nil)
                try await absent { () async throws(BlobError) in
                    _ = try await store.head(BlobKey("library.json"))
                }
            })
        guard findings.last?.verdict == .ok else { return findings }
        findings.append(
            try await .identity { () async throws(Failure) in
                try await LibraryIdentity.isThere(in: store, named: settings.name)
            })
        findings.append(
            await finding("workers list and read originals") { () async throws(BlobError) in
                let below = settings.originals == nil ? "originals/" : ""
                let page = try await originals.list(below, after: nil)
                if let first = page.entries.first { _ = try await originals.head(first.key) }
            })
        let writes = await finding("workers write, and the store keeps conditions") {
            () async throws(BlobError) in
            try await store.probe(probe)
        }
        findings.append(writes)
        findings.append(
            await finding("workers keep dead jobs", otherwise: .warning) {
                () async throws(BlobError) in
                try await store.put(BlobKey(BucketLibrary.deadProbeFile), [])
            })
        if writes.verdict == .ok {
            findings.append(
                await finding("gc removes", otherwise: .warning) { () async throws(BlobError) in
                    if let error = try await store.delete([probe])[probe] { throw error }
                })
        }
        findings += await lifecycle()
        findings.append(clock())
        findings.append(scratch())
        return findings
    }

    private func finding(
        _ check: String, otherwise verdict: Finding.Verdict = .failed,
        _ body: () async throws(BlobError) -> Void
    ) async -> Finding {
        do throws(BlobError) {
            try await body()
            return Finding(check: check, verdict: .ok, sentence: nil)
        } catch {
            return Finding(check: check, verdict: verdict, sentence: error.message)
        }
    }

    /// Runs a call for which a missing object is no error.
    private func absent(_ body: () async throws(BlobError) -> Void) async throws(BlobError) {
        do throws(BlobError) {
            try await body()
        } catch {
            guard error.code == .notFound else { throw error }
        }
    }

    private func clear() -> Finding {
        let urls = [settings.url, settings.originals].compactMap(\.self).filter(\.sendsInClear)
        return Finding(
            check: "photos and keys are encrypted on their way",
            verdict: urls.isEmpty ? .ok : .warning,
            sentence: urls.isEmpty
                ? nil : "\(urls.map(\.description).joined(separator: ", ")): use https.")
    }

    private func clock() -> Finding {
        let offset = store.clockOffset
        let isOff = abs(offset) > Self.clockOffsetMax
        return Finding(
            check: "the clocks agree", verdict: isOff ? .warning : .ok,
            sentence: isOff
                ? "the store's is \(offset) s ahead of this machine's; workers sign by the store's. Set the clock."
                : nil)
    }

    private func scratch() -> Finding {
        let check = "the scratch folder can be written"
        do throws(Failure) {
            try settings.checkScratch()
            return Finding(check: check, verdict: .ok, sentence: nil)
        } catch {
            return Finding(check: check, verdict: .failed, sentence: error.message)
        }
    }
}

/// The checks of the bucket's lifecycle rules, which can remove objects by themselves.
extension BucketCheck {
    func lifecycle() async -> [Finding] {
        let prefix = Self.prefix(of: settings.url)
        var findings: [Finding] = []
        let check = "the bucket's rules leave the library alone"
        do throws(BlobError) {
            let rules = try await store.lifecycle()
            let keepsVersions = try await seen("replaced objects are kept for a time", &findings) {
                () async throws(BlobError) in
                try await store.keepsVersions()
            }
            findings += Self.findings(
                check,
                LifecycleAdvice.advice(
                    rules, prefix: prefix, keepsVersions: keepsVersions,
                    hasOriginals: settings.originals == nil))
        } catch {
            findings.append(Self.unseen(check, error))
        }
        guard settings.originals != nil else { return findings }
        let originalsCheck = "the rules of the originals' bucket leave them alone"
        do throws(BlobError) {
            findings += Self.findings(
                originalsCheck,
                LifecycleAdvice.advice(
                    try await originals.lifecycle(),
                    originals: Self.prefix(of: settings.originals)))
        } catch {
            findings.append(Self.unseen(originalsCheck, error))
        }
        return findings
    }

    private static func prefix(of url: BlobURL?) -> String {
        guard let url, !url.prefix.isEmpty else { return "" }
        return url.prefix + "/"
    }

    private func seen<Value>(
        _ check: String, _ findings: inout [Finding],
        _ read: () async throws(BlobError) -> Value
    ) async throws(BlobError) -> Value? {
        do throws(BlobError) {
            return try await read()
        } catch {
            findings.append(Self.unseen(check, error))
            return nil
        }
    }

    private static func findings(_ check: String, _ advice: [LifecycleAdvice]) -> [Finding] {
        let harmless =
            advice.contains(where: \.isHarm)
            ? [] : [Finding(check: check, verdict: .ok, sentence: nil)]
        return harmless
            + advice.map {
                Finding(
                    check: check, verdict: $0.isHarm ? .warning : .note, sentence: $0.sentence)
            }
    }

    private static func unseen(_ check: String, _ error: BlobError) -> Finding {
        Finding(check: check, verdict: .note, sentence: LifecycleAdvice.unseen(error).sentence)
    }
}
