import Edits
import Testing

@testable import BlobStore
@testable import BucketLibrary

@Suite("The rules of a bucket") struct LifecycleAdviceTests {
    private func rule(
        _ prefix: String, _ change: (inout BucketLifecycle.Rule) -> Void
    ) -> BucketLifecycle.Rule {
        var rule = BucketLifecycle.Rule()
        (rule.name, rule.prefix) = ("tidy", prefix)
        change(&rule)
        return rule
    }

    private func harms(
        _ prefix: String, tags: Bool = false, hasOriginals: Bool = true
    ) -> [String] {
        let expiring = rule(prefix) {
            $0.expires = true
            $0.needsTags = tags
        }
        return LifecycleAdvice.advice(
            BucketLifecycle([expiring]), prefix: "lab/", keepsVersions: false,
            hasOriginals: hasOriginals
        ).filter(\.isHarm).map(\.sentence)
    }

    @Test(arguments: ["", "l", "lab/", "lab/current/", "lab/edits/2024/", "lab/originals/a.jpg"])
    func `one that lets photos expire is a harm`(_ prefix: String) {
        #expect(harms(prefix).count == 1)
    }

    @Test func `one that archives photos is a harm, and so is one that lets the format expire`() {
        #expect(harms("lab/library").count == 1)
        var archiving = rule("lab/edits/") { $0.archive = "GLACIER" }
        func advice() -> [LifecycleAdvice] {
            LifecycleAdvice.advice(BucketLifecycle([archiving]), originals: "lab/edits/")
        }
        #expect(advice().first?.sentence.contains("GLACIER") == true)
        archiving.archive = nil
        #expect(advice().isEmpty)
    }

    @Test(arguments: ["other/", "lab2/", "lab/renders/", "labs"])
    func `one of something else is none`(_ prefix: String) {
        #expect(harms(prefix) == [])
    }

    @Test func `our objects have no tags, and originals may be elsewhere`() {
        #expect(harms("", tags: true) == [])
        #expect(harms("lab/originals/", hasOriginals: false) == [])
        let all = rule("") { $0.expires = true }
        #expect(
            LifecycleAdvice.advice(BucketLifecycle([all]), originals: "photos/").count == 1)
    }

    @Test func `cut off uploads and replaced objects are to go`() {
        func advice(_ rules: [BucketLifecycle.Rule], keeps: Bool?) -> [LifecycleAdvice] {
            LifecycleAdvice.advice(
                BucketLifecycle(rules), prefix: "lab/", keepsVersions: keeps, hasOriginals: true)
        }
        let aborts = rule("") { $0.abortsUploads = true }
        let ends = rule("lab/") { $0.expiresNoncurrent = true }
        let endsHeads = rule("lab/current/") { $0.expiresNoncurrent = true }
        #expect(advice([], keeps: true).count == 2)
        #expect(advice([], keeps: nil).count == 1)
        #expect(advice([aborts], keeps: false) == [])
        #expect(advice([aborts, endsHeads], keeps: true).count == 1)
        #expect(advice([aborts, ends], keeps: true) == [])
    }

    @Test func `what cannot be seen is no harm, and its reason is reported`() {
        let unseen = LifecycleAdvice.unseen(BlobError(.denied, "Its policy needs a right."))
        #expect(!unseen.isHarm)
        #expect(unseen.sentence.contains("could not be read"))
        #expect(unseen.sentence.contains("Its policy needs a right."))
    }
}
