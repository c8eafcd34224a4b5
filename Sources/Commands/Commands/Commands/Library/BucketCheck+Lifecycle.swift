import BlobStore
import BucketLibrary

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
