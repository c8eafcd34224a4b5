import Adjustments
import FileBytes
import Foundation
import MinilabTesting
import Testing

@testable import Rendering

@Suite("The digest of the photo at hand") struct SourceDigestsTests {
    private let folder: TemporaryFolder
    private let path: String
    private let sources = SourceDigests()

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("a.png")
        try Data("photo".utf8).write(to: URL(filePath: path))
    }

    @Test func `is of the bytes that are there now`() throws {
        let first = try sources.sha256(of: path)
        #expect(try first == FileDigest.sha256(of: path).hex)
        try Data("another".utf8).write(to: URL(filePath: path))
        let second = try sources.sha256(of: path)
        #expect(try second == FileDigest.sha256(of: path).hex && second != first)
    }

    @Test func `stays when the file gets another name`() throws {
        let first = try sources.sha256(of: path)
        try FileManager.default.linkItem(atPath: path, toPath: folder.file("b.png"))
        try sources.checkUnchanged(path)
        #expect(try sources.sha256(of: path) == first)
    }

    @Test(arguments: ["rewritten", "replaced", "removed"])
    func `does not go with a render of a photo that changed under it`(how: String) throws {
        _ = try sources.sha256(of: path)
        switch how {
        case "rewritten": try Data("photo+".utf8).write(to: URL(filePath: path))
        case "replaced": try Data("photo".utf8).write(to: URL(filePath: path), options: .atomic)
        default: try FileManager.default.removeItem(atPath: path)
        }
        let failure = #expect(throws: Failure.self) { try sources.checkUnchanged(path) }
        #expect(failure?.code == .ioFailure)
    }
}
