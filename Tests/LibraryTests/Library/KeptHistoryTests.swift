import Edits
import Testing

@testable import Library

@Suite("The history of a copy") struct KeptHistoryTests {
    private func version(
        _ name: String, on parent: String?, isDraft: Bool = false, publishing draft: String? = nil,
        after history: [PublishedJob] = []
    ) throws -> Provenance {
        Provenance(
            version: try #require(VersionName(name)), parent: parent.flatMap(VersionName.init),
            isDraft: isDraft, mode: draft == nil ? .replace : .publish,
            draft: draft.flatMap(VersionName.init),
            author: Provenance.Author(
                queue: "photos", job: "job-\(name)", generation: 1, attempt: 1, worker: "w",
                at: "2026-01-01T00:00:00Z"),
            history: PublishedJobs(history), timeline: .start, content: nil)
    }

    private func history(_ versions: [Provenance], draft: Provenance? = nil) -> KeptHistory {
        KeptHistory(versions: versions, draft: draft)
    }

    private func differs(_ advance: HeadAdvance) -> Bool {
        if case .differs = advance { true } else { false }
    }

    @Test func `an empty target and an earlier version are advanced, the same one is not`() throws {
        let two = history([try version("2-2", on: "1-1"), try version("1-1", on: nil)])
        #expect(two.over(current: nil, draft: nil) == .advanced)
        #expect(two.over(current: "1-1", draft: nil) == .advanced)
        #expect(two.over(current: "2-2", draft: nil) == .same)
    }

    @Test func `a later version, another one, and one of nothing stay`() throws {
        let two = history([try version("2-2", on: "1-1"), try version("1-1", on: nil)])
        for name in ["3-3", "2-9", "1-9"] {
            #expect(differs(two.over(current: name, draft: nil)), "\(name)")
        }
        #expect(differs(history([]).over(current: "1-1", draft: nil)))
        #expect(history([]).over(current: nil, draft: nil) == .same)
    }

    @Test func `an earlier version that was collected is still known`() throws {
        let one = try version("1-1", on: nil)
        let two = try version("2-2", on: "1-1", after: one.published ?? [])
        let three = try version("3-3", on: "2-2", after: two.published ?? [])
        #expect(history([three]).over(current: "2-2", draft: nil) == .advanced)
        #expect(history([three]).over(current: "1-1", draft: nil) == .advanced)
        #expect(differs(history([three]).over(current: "1-7", draft: nil)))
    }

    @Test func `a draft goes when it was published or replaced, and stays when nobody knows it`()
        throws
    {
        let one = try version("1-1", on: nil)
        let draft = try version("2-2", on: "1-1", isDraft: true)
        let published = try version("2-3", on: "1-1", publishing: "2-2")
        let later = try version("2-4", on: "1-1", isDraft: true, after: draft.published ?? [])
        #expect(history([published, one]).over(current: "1-1", draft: "2-2") == .advanced)
        #expect(history([one], draft: later).over(current: "1-1", draft: "2-2") == .advanced)
        #expect(history([one], draft: draft).over(current: "1-1", draft: nil) == .advanced)
        #expect(history([one], draft: draft).over(current: "1-1", draft: "2-2") == .same)
        #expect(differs(history([one]).over(current: "1-1", draft: "2-2")))
    }

    @Test func `files with the same bytes are one, and links name the first`() async throws {
        let f = try LibraryFixture()
        let names = (1...4).map { VersionName(revision: $0, fence: "\($0)") }
        _ = try await f.publish(names[0], on: nil, text: "one")
        _ = try await f.library.publish(
            names[1], of: f.asset, from: f.seal(names[1], on: names[0], text: "two", base: "one"))
        _ = try await f.publish(names[2], on: names[1], text: "two")
        let copies = try await history(f.library.history(of: f.asset)).copies()
        #expect(copies.map(\.name) == Array(names.prefix(3)))
        let links = copies.map { copy in
            copy.files.compactMap { file in
                file.link.map { "\(file.recorded.name) is \($0.version)/\($0.file)" }
            }
        }
        #expect(
            links == [
                [], ["base/IMG_0001.jpg is 1-1/IMG_0001.jpg"],
                ["IMG_0001.jpg is 2-2/IMG_0001.jpg", "IMG_0001.AAE is 1-1/IMG_0001.AAE"],
            ])
    }
}
