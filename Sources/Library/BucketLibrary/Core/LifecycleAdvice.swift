package import BlobStore

/// The effect of a bucket's lifecycle rules on the library in it.
package struct LifecycleAdvice: Sendable, Equatable {
    /// Whether the rules delete photos or versions.
    package let isHarm: Bool
    /// The problem and its remedy.
    package let sentence: String

    /// The recommended maximum number of days for which incomplete multipart uploads and replaced objects are kept.
    private static let uploadDays = 1
    private static let noncurrentDays = 7

    /// Returns the problems with the rules of the bucket with heads and versions.
    ///
    /// - Parameters:
    ///   - prefix: the prefix of the library's keys; empty, or with a slash at its end.
    ///   - keepsVersions: whether the bucket keeps replaced objects; nil if that could not be determined.
    ///   - hasOriginals: whether the bucket also contains the originals.
    package static func advice(
        _ lifecycle: BucketLifecycle, prefix: String, keepsVersions: Bool?, hasOriginals: Bool
    ) -> [LifecycleAdvice] {
        let parts =
            [LibraryKeys.libraryFile, LibraryKeys.headPrefix, "edits/"]
            + (hasOriginals ? ["originals/"] : [])
        var advice = harms(lifecycle, prefixes: parts.map { prefix + $0 })
        if !lifecycle.rules.contains(where: { $0.abortsUploads && $0.covers(prefix + "edits/") }) {
            advice.append(
                LifecycleAdvice(
                    isHarm: false,
                    sentence:
                        "no rule removes uploads that were cut off, which cost as much as objects. Add one: "
                        + "AbortIncompleteMultipartUpload after \(uploadDays) day."))
        }
        let isEnding = [LibraryKeys.headPrefix, "edits/"].allSatisfy { part in
            lifecycle.rules.contains { $0.expiresNoncurrent && $0.covers(prefix + part) }
        }
        if keepsVersions == true, !isEnding {
            advice.append(
                LifecycleAdvice(
                    isHarm: false,
                    sentence:
                        "the bucket keeps replaced and removed objects forever: each edit replaces a head, and gc "
                        + "frees nothing. Add a rule: NoncurrentVersionExpiration after \(noncurrentDays) days."
                ))
        }
        return advice
    }

    /// Returns the problems with the rules of a bucket that contains only originals.
    package static func advice(
        _ lifecycle: BucketLifecycle, originals prefix: String
    ) -> [LifecycleAdvice] {
        harms(lifecycle, prefixes: [prefix])
    }

    /// Returns the advice for rules that could not be read. Workers do not need to read them, many keys lack the
    /// right, and some stores have no rules.
    package static func unseen(_ error: BlobError) -> LifecycleAdvice {
        LifecycleAdvice(
            isHarm: false,
            sentence: "the bucket's rules could not be read; check them by hand. \(error.message)"
        )
    }

    private static func harms(
        _ lifecycle: BucketLifecycle, prefixes: [String]
    ) -> [LifecycleAdvice] {
        lifecycle.rules.compactMap { rule in
            guard rule.expires || rule.archive != nil else { return nil }
            let hit = prefixes.filter(rule.touches)
            guard !hit.isEmpty else { return nil }
            let prefixes = hit.map { $0.isEmpty ? "the whole bucket" : $0 }.joined(separator: ", ")
            let harm =
                rule.expires
                ? "lets objects expire below \(prefixes): photos and their versions get lost"
                : "moves objects below \(prefixes) to \(rule.archive ?? ""), from where they cannot be read immediately"
            return LifecycleAdvice(
                isHarm: true,
                sentence:
                    "the rule \(rule.name.debugDescription) \(harm). Switch it off, or give it the prefix of "
                    + "something else.")
        }
    }
}
