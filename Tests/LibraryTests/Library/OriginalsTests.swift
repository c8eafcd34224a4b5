import Edits
import FoundationEssentials
import Glibc
import MinilabTesting
import SystemPackage
import Testing

@testable import Library

@Suite("Originals") struct OriginalsTests {
    private func failure(_ f: LibraryFixture, _ asset: String) throws -> FailureCode? {
        let asset = try AssetPath(asset)
        do {
            _ = try f.library.original(of: asset)
            return nil
        } catch {
            return error.code
        }
    }

    private func link(_ f: LibraryFixture, _ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(
            atPath: f.library.originals.appending(name).string, withDestinationPath: target)
    }

    @Test func `a missing original is named`() throws {
        let f = try LibraryFixture()
        #expect(try failure(f, "nobody.jpg") == .missingAsset)
        #expect(try failure(f, "2024/IMG_0001.JPG/inside") == .missingAsset)
    }

    @Test func `a link within the originals is followed`() throws {
        let f = try LibraryFixture()
        try link(f, "alias.jpg", to: "2024/IMG_0001.JPG")
        #expect(try failure(f, "alias.jpg") == nil)
    }

    @Test
    func `a link to what is below its folder is followed, and one to another folder is refused`()
        throws
    {
        let f = try LibraryFixture()
        let photo = f.library.originals.pushing("2024/IMG_0001.JPG")
        for folder in ["acme/a/deep", "acme/b", "globex"] {
            try FileManager.default.createDirectory(
                atPath: f.library.originals.pushing(FilePath(folder)).string,
                withIntermediateDirectories: true)
        }
        for name in ["acme/a/deep/1.jpg", "acme/b/1.jpg", "globex/1.jpg"] {
            try FileManager.default.copyItem(
                atPath: photo.string, toPath: f.library.originals.pushing(FilePath(name)).string)
        }
        for (name, target, code) in [
            ("acme/a/own.jpg", "deep/1.jpg", nil), ("acme/any.jpg", "a/deep/1.jpg", nil),
            ("acme/a/other.jpg", "../b/1.jpg", .assetOutsideLibrary),
            ("acme/a/stranger.jpg", "../../globex/1.jpg", .assetOutsideLibrary),
            ("acme/a/absolute.jpg", photo.string, .assetOutsideLibrary),
            // Links of folders, and a link to a link.
            ("acme/a/out", "../../globex", nil), ("acme/c", "b", nil),
            ("acme/a/hop.jpg", "deep/../stranger.jpg", .assetOutsideLibrary),
        ] as [(String, String, FailureCode?)] {
            try link(f, name, to: target)
            guard name.hasSuffix(".jpg") else { continue }
            #expect(try failure(f, name) == code, "\(name) -> \(target)")
        }
        #expect(try failure(f, "acme/a/out/1.jpg") == .assetOutsideLibrary)
        #expect(try failure(f, "acme/c/1.jpg") == nil)
    }

    @Test(arguments: ["/etc/passwd", "../../secret", "2024/../../../secret"])
    func `a link that leads out of the library is refused`(target: String) throws {
        let f = try LibraryFixture()
        try f.put("secret", at: FilePath(f.folder.path).appending("secret"))
        try link(f, "evil.jpg", to: target)
        #expect(try failure(f, "evil.jpg") == .assetOutsideLibrary)
    }

    @Test func `a folder that is a link out of the library is refused`() throws {
        let f = try LibraryFixture()
        try f.put("secret", at: FilePath(f.folder.path).appending("outside/secret.jpg"))
        try link(f, "album", to: f.folder.path + "/outside")
        #expect(try failure(f, "album/secret.jpg") == .assetOutsideLibrary)
    }

    @Test func `links in a circle are refused`() throws {
        let f = try LibraryFixture()
        try link(f, "a.jpg", to: "b.jpg")
        try link(f, "b.jpg", to: "a.jpg")
        #expect(try failure(f, "a.jpg") == .assetOutsideLibrary)
    }

    @Test func `a folder or a pipe is not a photo`() throws {
        let f = try LibraryFixture()
        #expect(mkfifo(f.library.originals.appending("pipe.jpg").string, 0o600) == 0)
        #expect(try failure(f, "pipe.jpg") == .unsupportedFormat)
        #expect(try failure(f, "2024") == .unsupportedFormat)
    }

    @Test func `originals may be a folder elsewhere`() throws {
        let f = try LibraryFixture()
        let elsewhere = try LibraryFolder(
            root: FilePath(f.folder.path).appending("other"), originals: f.library.originals)
        #expect(try elsewhere.original(of: f.asset) == f.library.original(of: f.asset))
    }

    @Test func `originals that are not there are an error at the start`() throws {
        let f = try LibraryFixture()
        #expect(throws: Failure.self) {
            try LibraryFolder(root: FilePath(f.folder.path), originals: "/nowhere/at/all")
        }
    }
}
