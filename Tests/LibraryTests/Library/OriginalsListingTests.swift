import Edits
import Files
import FoundationEssentials
import Glibc
import SystemPackage
import Testing

@testable import Library

@Suite("The listing of originals") struct OriginalsListingTests {
    private func pages(_ f: LibraryFixture, atMost count: Int) throws -> [OriginalsPage] {
        var listing = OriginalsListing(f.library.originals, f.library.files)
        var pages: [OriginalsPage] = []
        while let page = try listing.next(atMost: count) { pages.append(page) }
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
        let pages = try self.pages(f, atMost: count)
        #expect(
            pages.flatMap(\.assets).map(\.string) == [
                "a/z.jpg", "a/ä/1.jpg", "a/\u{1F4F7}.jpg", "b.jpg", "b/IMG.MOV", "b/IMG.jpg",
                "b0.jpg",
            ])
        #expect(pages.allSatisfy { $0.assets.count <= count })
    }

    @Test func `follows no link to a folder, and passes over what a copy or a removal on NFS left`()
        throws
    {
        let f = try LibraryFixture(asset: "b/IMG.jpg")
        try put(["b/.minilab-copy-00", "b/.nfs000000000006000200000001"], f)
        try f.library.files.point(f.library.originals.appending("round"), to: ".")
        try f.library.files.point(f.library.originals.appending("c.jpg"), to: "b/IMG.jpg")
        #expect(
            try pages(f, atMost: 10).flatMap(\.assets).map(\.string) == ["b/IMG.jpg", "c.jpg"])
    }

    @Test func `a name that is no text is reported, a folder's too`() throws {
        let f = try LibraryFixture(asset: "b/IMG.jpg")
        for name: [UInt8] in [Array("Gr".utf8) + [0xF6] + Array("n.jpg".utf8), [0xE4]] {
            let path = Array(f.library.originals.string.utf8) + [UInt8(ascii: "/")] + name + [0]
            let made = path.withUnsafeBytes { bytes in
                bytes.withMemoryRebound(to: CChar.self) { text -> Bool in
                    guard let text = text.baseAddress else { return false }
                    if name.count == 1 { return mkdir(text, 0o777) == 0 }
                    let file = creat(text, 0o666)
                    return close(file) == 0
                }
            }
            try #require(made)
        }
        let page = try #require(try pages(f, atMost: 10).first)
        #expect(page.assets.map(\.string) == ["b/IMG.jpg"])
        #expect(page.refused.count == 2)
    }

    @Test func `an original that another copy writes is left to that one`() async throws {
        let f = try LibraryFixture(asset: "b/IMG.jpg")
        let asset = try AssetPath("new.jpg")
        try f.put("photo", at: f.library.originals.appending("source"))
        let source = try OpenFile(reading: f.library.originals.appending("source").string)
        let (hex, bytes) = try FileDigest.sha256(of: source)
        let digest = StoredDigest(sha256: hex, bytes: bytes)
        let part = f.library.originals.appending(
            OriginalsListing.copyPrefix + String(JSONValue.string(asset.string).digest.prefix(32)))
        try f.put("half", at: part)
        var other: OpenFile? = try OpenFile(opening: part.string, O_RDWR)
        #expect(try other?.lock() == true)
        let failure = await #expect(throws: Failure.self) {
            try await f.library.copy(original: source, digest, of: asset)
        }
        #expect(failure?.code == .ioFailure)
        #expect(FileManager.default.contents(atPath: part.string) == Data("half".utf8))
        // The part of a killed copy is nobody's.
        other = nil
        try await f.library.copy(original: source, digest, of: asset)
        #expect(
            FileManager.default.contents(
                atPath: f.library.originals.appending("new.jpg").string) == Data("photo".utf8))
        #expect(try !f.library.files.exists(part))
    }

    @Test func `a name that no asset can have is reported`() throws {
        let f = try LibraryFixture(asset: "b/IMG.jpg")
        try put(["b/line\nend.jpg"], f)
        let page = try #require(try pages(f, atMost: 10).first)
        #expect(page.refused.map(\.name) == ["b/line\nend.jpg"])
        #expect(page.refused.first?.failure.code == .invalidValue)
        #expect(page.assets.map(\.string) == ["b/IMG.jpg"])
    }
}
