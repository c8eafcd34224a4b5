import Edits
import Files
import Foundation
import MinilabTesting
import SystemPackage
import Testing

@testable import Gateway
@testable import Library

@Suite("Files of assets") struct AssetDownloadTests {
    private func edited() async throws -> AssetServer {
        let server = try await AssetServer()
        try server.put("0123456789", at: "acme/a.JPG")
        let (one, two) = (try Self.name(1), try Self.name(2))
        try await server.publish(one, of: "acme/a.JPG", on: nil, text: "first")
        try await server.publish(
            two, of: "acme/a.JPG", on: one, text: "second render",
            filters: [Filter("CISepiaTone", ["intensity": 0.8])])
        return server
    }

    private static func name(_ revision: Int) throws -> VersionName {
        try #require(VersionName("\(revision)-\(revision)"))
    }

    private func field(_ name: String, _ answer: HTTPExchange.Answer) -> String? {
        answer.text.split(separator: "\r\n").first { $0.hasPrefix(name + ": ") }
            .map { String($0.dropFirst(name.count + 2)) }
    }

    @Test func `an original is sent as it is, and never shown`() async throws {
        let server = try await edited()
        let answer = try await server.send("GET", "/v1/originals/acme/a.JPG")
        #expect(answer.status == 200, "\(answer.text)")
        #expect(answer.body == "0123456789")
        #expect(field("Content-Disposition", answer) == "attachment; filename*=UTF-8''a.JPG")
        #expect(field("X-Content-Type-Options", answer) == "nosniff")
        #expect(field("Content-Security-Policy", answer) == "sandbox; default-src 'none'")
        #expect(field("Cache-Control", answer)?.hasPrefix("private") == true)
        let head = try await server.send("HEAD", "/v1/originals/acme/a.JPG")
        #expect(head.body == "")
        #expect(field("Content-Length", head) == "10")
        #expect(field("ETag", head) == field("ETag", answer))
    }

    /// A client of HTTP/1.0, as many proxies are, has no other sign that the end is missing.
    @Test func `a large file is sent with its length`() async throws {
        let server = try await edited()
        let bytes = 3 * BoundedDownload.pieceBytes + 1
        try server.put(String(repeating: "x", count: bytes), at: "acme/large.jpg")
        let answer = try await server.send("GET", "/v1/originals/acme/large.jpg")
        #expect(answer.status == 200)
        #expect(field("Content-Length", answer) == "\(bytes)")
        #expect(field("Transfer-Encoding", answer) == nil)
        #expect(answer.body.count == bytes)
    }

    @Test(arguments: ["no library", "another library"])
    func `an asset is not called missing while the library is not at its place`(
        _ there: String
    ) async throws {
        let server = try await edited()
        let files = FileManager.default
        let root = server.library.root.string
        try files.moveItem(atPath: root, toPath: root + ".away")
        // The mount point of a disk that is not mounted, or on which another one is.
        try files.createDirectory(atPath: root, withIntermediateDirectories: true)
        if there == "another library" { _ = try LibraryFolder(root: FilePath(root)) }
        let paths = [
            "/v1/originals/acme/a.JPG", "/v1/renders/acme/a.JPG", "/v1/previews/acme/a.JPG",
            "/v1/renders/acme/a.JPG?version=1-1", "/v1/history/acme/a.JPG",
            "/v1/diff/acme/a.JPG?from=original",
        ]
        for path in paths {
            let answer = try await server.send("GET", path)
            #expect(answer.status == 503, "\(path): \(answer.text)")
            #expect(answer.text.contains("libraryUnavailable"), "\(answer.text)")
            #expect(answer.text.contains("mounted"), "\(answer.text)")
        }
        try files.removeItem(atPath: root)
        try files.moveItem(atPath: root + ".away", toPath: root)
        for path in paths {
            #expect(try await server.send("GET", path).status == 200, "\(path)")
        }
        #expect(try await server.send("GET", "/v1/originals/acme/none.JPG").status == 404)
    }

    @Test(arguments: [
        "/v1/originals/acme/a.JPG", "/v1/renders/acme/a.JPG", "/v1/renders/acme/a.JPG?version=1",
        "/v1/previews/acme/a.JPG", "/v1/history/acme/a.JPG", "/v1/diff/acme/a.JPG?from=1",
        "/v1/originals/acme/none.JPG",
    ])
    func `a library that is not at its place is told, and what it has is not called missing`(
        path: String
    ) async throws {
        let server = try await edited()
        let root = server.library.root.string
        try FileManager.default.moveItem(atPath: root, toPath: root + ".away")
        // The mount point, with the originals, which may be a mount of their own.
        try FileManager.default.createDirectory(
            atPath: root, withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            atPath: root + ".away/originals", toPath: root + "/originals")
        let isOriginal = path == "/v1/originals/acme/a.JPG"
        let answer = try await server.send("GET", path)
        #expect(answer.status == (isOriginal ? 200 : 503), "\(answer.text)")
        try FileManager.default.removeItem(atPath: root + "/originals")
        #expect(try await server.send("GET", path).status == 503)
        try FileManager.default.removeItem(atPath: root)
        try FileManager.default.moveItem(atPath: root + ".away", toPath: root)
        #expect(
            try await server.send("GET", path).status == (path.contains("none") ? 404 : 200))
    }

    @Test func `a part of it is sent, of the bytes that are meant`() async throws {
        let server = try await edited()
        let path = "/v1/originals/acme/a.JPG"
        let part = try await server.send("GET", path, "Range: bytes=2-4\r\n")
        #expect(part.status == 206)
        #expect(part.body == "234")
        #expect(field("Content-Range", part) == "bytes 2-4/10")
        let tag = try #require(field("ETag", part))
        #expect(
            try await server.send("GET", path, "Range: bytes=2-4\r\nIf-Range: \(tag)\r\n").body
                == "234")
        #expect(
            try await server.send("GET", path, "Range: bytes=2-4\r\nIf-Range: \"x\"\r\n").body
                == "0123456789")
        let none = try await server.send("GET", path, "Range: bytes=10-\r\n")
        #expect(none.status == 416)
        #expect(field("Content-Range", none) == "bytes */10")
        let known = try await server.send("GET", path, "If-None-Match: \(tag)\r\n")
        #expect(known.status == 304)
        #expect(known.body == "")
        #expect(try await server.send("GET", path, "If-Match: \"x\"\r\n").status == 412)
    }

    @Test func `what readers see is named by its version`() async throws {
        let server = try await edited()
        let current = try await server.send("GET", "/v1/renders/acme/a.JPG")
        #expect(current.body == "second render")
        #expect(field("Content-Location", current) == "/v1/renders/acme/a.JPG?version=2-2")
        #expect(field("Cache-Control", current) == "private, no-cache")
        #expect(field("Content-Type", current) == "image/jpeg")
        let named = try await server.send("GET", "/v1/renders/acme/a.JPG?version=1-1")
        #expect(named.body == "first")
        #expect(field("Cache-Control", named) == "private, max-age=31536000, immutable")
        #expect(field("Content-Location", named) == nil)
        let counted = try await server.send("GET", "/v1/renders/acme/a.JPG?version=1")
        #expect(counted.body == "first")
        #expect(field("Content-Location", counted) == "/v1/renders/acme/a.JPG?version=1-1")
        let original = try await server.send("GET", "/v1/renders/acme/a.JPG?version=original")
        #expect(original.body == "0123456789")
        #expect(try await server.send("GET", "/v1/renders/acme/a.JPG?version=9").status == 404)
    }

    @Test func `an asset that nobody has edited shows its original`() async throws {
        let server = try await AssetServer()
        try server.put("as it came", at: "acme/b.JPG")
        let answer = try await server.send("GET", "/v1/renders/acme/b.JPG")
        #expect(answer.body == "as it came")
        #expect(field("Content-Location", answer) == "/v1/renders/acme/b.JPG?version=original")
        #expect(try await server.send("GET", "/v1/renders/acme/c.JPG").status == 404)
    }

    @Test func `previews go by their longest side`() async throws {
        let server = try await edited()
        let answer = try await server.send("GET", "/v1/previews/acme/a.JPG?side=64")
        #expect(answer.body == "small")
        #expect(
            field("Content-Location", answer) == "/v1/previews/acme/a.JPG?version=2-2&side=64")
        #expect(try await server.send("GET", "/v1/previews/acme/a.JPG?side=128").status == 404)
        #expect(try await server.send("GET", "/v1/previews/acme/a.JPG?side=x").status == 400)
    }

    /// Adds a rendition of this text to version 2, and returns its file.
    private func addRendition(_ text: String, _ server: AssetServer) async throws -> URL {
        let asset = try AssetPath("acme/a.JPG")
        let staged = StagedVersion(queue: "photos", job: "acme.sizes", fence: "9")
        let folder = try server.library.staging.begin(staged)
        let rendition = try Rendition(.object([:]), at: "r")
        let size = PixelSize(width: 3, height: 2)
        let record = StoredRendition(
            "web", rendition,
            key: RenditionKey(
                photo: "aa", filters: try Recipe(filters: []), rendition: rendition,
                render: 1, owner: .operator),
            made: MadeFile(
                mediaType: "image/jpeg", size: size, bytes: text.utf8.count,
                sha256: SHA256.hash(data: Data(text.utf8)).hex),
            RenditionResult(size: size, quality: 0.9),
            by: Provenance.Author(
                queue: "photos", job: "acme.sizes", generation: 1, attempt: 1, worker: "w",
                at: "2026-01-01T00:00:00Z"), of: RenderOrigin(engine: "test/1"))
        let path = folder.pushing(FilePath(record.stagedName))
        try FileManager.default.createDirectory(
            atPath: path.removingLastComponent().string, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(filePath: path.string))
        _ = try await server.library.add(
            ["web": record], to: try Self.name(2), of: asset, from: staged)
        return URL(
            filePath: server.library.root.appending("edits").pushing(FilePath(asset.string))
                .appending("sizes").appending("2-2").appending(record.file).string)
    }

    @Test func `a rendition is sent, and one whose file is gone or cut off is named as that`()
        async throws
    {
        let server = try await edited()
        let file = try await addRendition("a rendition", server)
        let path = "/v1/renditions/web/acme/a.JPG"
        let answer = try await server.send("GET", path)
        #expect(answer.status == 200 && answer.body == "a rendition", "\(answer.text)")
        #expect(field("Content-Location", answer) == path + "?version=2-2")
        #expect(try await server.send("GET", path + "?version=1-1").text.contains(#""notFound""#))
        let tag = try #require(field("ETag", answer))
        try Data("a ren".utf8).write(to: file)
        for what in ["has 5", "does not exist"] {
            let problem = try await server.send("GET", path)
            #expect(problem.status == 404, "\(problem.text)")
            #expect(problem.text.contains("missingRendition"), "\(problem.text)")
            #expect(problem.text.contains(what) && problem.text.contains("remake"))
            #expect(!problem.text.contains(server.library.root.string))
            // The client has the bytes.
            #expect(
                try await server.send("GET", path, "If-None-Match: \(tag)\r\n").status == 304)
            if FileManager.default.fileExists(atPath: file.path) {
                try FileManager.default.removeItem(at: file)
            }
        }
    }

    @Test func `a rendition that a rule of retention has removed is named as that`() async throws {
        let server = try await edited()
        _ = try await addRendition("a rendition", server)
        try await server.publish(
            try Self.name(3), of: "acme/a.JPG", on: try Self.name(2), text: "third")
        let collected = try await server.library.collect(
            AssetPath("acme/a.JPG"),
            keeping: Retention(versions: 9, age: nil, renditions: .current), now: .now)
        #expect(collected.renditions == ["2-2"])
        let problem = try await server.send("GET", "/v1/renditions/web/acme/a.JPG?version=2-2")
        #expect(problem.status == 404, "\(problem.text)")
        #expect(problem.text.contains("missingRendition"), "\(problem.text)")
    }

    @Test func `a history says what was done, and not on which machine`() async throws {
        let server = try await edited()
        let answer = try await server.send("GET", "/v1/history/acme/a.JPG")
        #expect(answer.status == 200)
        #expect(!answer.text.contains("secret-host"))
        #expect(!answer.text.contains(server.folder.path))
        let json = try JSONValue(parsing: answer.body, as: "the answer")
        guard case .object(let fields) = json, case .array(let versions)? = fields["versions"],
            case .object(let newest)? = versions.first
        else {
            Issue.record("\(answer.body)")
            return
        }
        #expect(versions.count == 2)
        #expect(newest["version"] == .string("2-2"))
        #expect(newest["marks"] == .array([.string("current")]))
        #expect(newest["job"] == .string("job-2-2"))
        #expect(try await server.send("GET", "/v1/history/acme/c.JPG").status == 404)
    }

    @Test func `a comparison says which steps differ`() async throws {
        let server = try await edited()
        let answer = try await server.send("GET", "/v1/diff/acme/a.JPG?from=1")
        #expect(answer.status == 200, "\(answer.text)")
        #expect(answer.body.contains("CISepiaTone"))
        #expect(answer.body.contains("\"from\":\"1-1\""))
        #expect(answer.body.contains("\"to\":\"2-2\""))
        #expect(try await server.send("GET", "/v1/diff/acme/a.JPG").status == 400)
        #expect(try await server.send("GET", "/v1/diff/acme/c.JPG?from=original").status == 404)
    }
}
