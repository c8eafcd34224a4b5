import Edits
import Files
import FoundationEssentials
import MinilabTesting
import Testing

@testable import Editing

@Suite("Resources of edits") struct ResourceTests {
    @Test func `a tenant's own are for its photos and the operator alone, others for all`() throws {
        let folder = try TemporaryFolder()
        let (common, own) = (String(repeating: "a", count: 64), String(repeating: "b", count: 64))
        try FileManager.default.createDirectory(
            atPath: folder.file("tenants/shop"), withIntermediateDirectories: true)
        for name in [common, "tenants/shop/" + own] {
            try Data("x".utf8).write(to: URL(filePath: folder.file(name)))
        }
        let filters = [common, own].map {
            #"{"name":"CIDarkenBlendMode","image":"sha256:\#($0)"}"#
        }
        let recipe = try Recipe(json: #"{"filters":[\#(filters.joined(separator: ","))]}"#)
        func found(by owner: Owner) throws -> [String] {
            try [String: OpenFile].opened(for: recipe, of: owner, in: folder.path).keys.sorted()
                .map { String($0.dropFirst("sha256:".count)) }
        }
        #expect(try found(by: .tenant(JobID("shop"))) == [common, own])
        #expect(try found(by: .tenant(JobID("newsroom"))) == [common])
        #expect(try found(by: .operator) == [common, own])
        #expect(try found(by: .photo("shop/a.jpg")) == [common, own])
    }

    @Test func `folders of tenants that cannot be listed are told in a sentence`() throws {
        let folder = try TemporaryFolder()
        // A link to itself is no folder, whatever the rights of the process.
        try FileManager.default.createSymbolicLink(
            atPath: folder.file("tenants"), withDestinationPath: "tenants")
        let digest = String(repeating: "a", count: 64)
        let recipe = try Recipe(
            json: #"{"filters":[{"name":"CIDarkenBlendMode","image":"sha256:\#(digest)"}]}"#)
        let failure = #expect(throws: Failure.self) {
            try [String: OpenFile].opened(for: recipe, of: .operator, in: folder.path)
        }
        #expect(failure?.code == .ioFailure)
        #expect(failure?.message.hasPrefix("listing \(folder.path)/tenants failed: ") == true)
        #expect(failure?.message.contains("Domain") == false, "\(failure?.message ?? "")")
    }
}
