import Adjustments
import Files
import FoundationEssentials
import SystemPackage
import Testing

@testable import Library

@Suite("A walk through originals") struct OriginalsWalkTests {
    private func walk(_ f: LibraryFixture, atMost count: Int) throws -> [OriginalsPage] {
        var walk = OriginalsWalk(f.library.originals, f.library.files)
        var pages: [OriginalsPage] = []
        while let page = try walk.next(atMost: count) { pages.append(page) }
        return pages
    }

    private func put(_ names: [String], _ f: LibraryFixture) throws {
        for name in names { try f.put("x", at: f.library.originals.pushing(FilePath(name))) }
    }

    @Test(arguments: [1, 2, 1000])
    func `finds each file once, in the order of the bytes, a page at a time`(
        _ count: Int
    ) throws {
        let f = try LibraryFixture(asset: "b/IMG.jpg")
        try put(["b.jpg", "b/IMG.MOV", "a/ä/1.jpg", "a/z.jpg", "b0.jpg", "a/\u{1F4F7}.jpg"], f)
        let pages = try walk(f, atMost: count)
        #expect(
            pages.flatMap(\.assets).map(\.string) == [
                "a/z.jpg", "a/ä/1.jpg", "a/\u{1F4F7}.jpg", "b.jpg", "b/IMG.MOV", "b/IMG.jpg",
                "b0.jpg",
            ])
        #expect(pages.allSatisfy { $0.assets.count <= count })
    }

    @Test func `follows no link to a folder, and passes over what a copy left`() throws {
        let f = try LibraryFixture(asset: "b/IMG.jpg")
        try put(["b/.minilab-copy-00"], f)
        try f.library.files.point(f.library.originals.appending("round"), to: ".")
        try f.library.files.point(f.library.originals.appending("c.jpg"), to: "b/IMG.jpg")
        #expect(
            try walk(f, atMost: 10).flatMap(\.assets).map(\.string) == ["b/IMG.jpg", "c.jpg"])
    }

    @Test func `a name that no asset can have is told`() throws {
        let f = try LibraryFixture(asset: "b/IMG.jpg")
        try put(["b/line\nend.jpg"], f)
        let page = try #require(try walk(f, atMost: 10).first)
        #expect(page.refused.map(\.name) == ["b/line\nend.jpg"])
        #expect(page.refused.first?.failure.code == .invalidValue)
        #expect(page.assets.map(\.string) == ["b/IMG.jpg"])
    }
}
