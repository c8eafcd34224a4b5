import Edits
import BlobStore
import FoundationEssentials
import Library
import Testing

@testable import BucketLibrary

@Suite("Keys of a library") struct KeyTests {
    private let keys = LibraryKeys(originalsPrefix: "originals/", prefixBytes: 10)

    @Test func `a key tells its version and file, of its own asset only`() throws {
        let asset = try AssetPath("a")
        for (file, isOurs) in [
            ("1-5/x.jpg", true), ("1-5/base/x.jpg", true), ("1-5/previews/256.jpg", true),
            ("1-5", false), ("1-5/other/x.jpg", false), ("x/1-5/x.jpg", false),
            // Of assets below.
            ("versions/1-5/x.jpg", false), ("1-5/versions/2-7/x.jpg", false),
            ("1-5/base/versions/2-7/x.jpg", false),
        ] {
            let found = keys.version(of: try BlobKey("edits/a/versions/\(file)"), asset)
            #expect((found != nil) == isOurs, "\(file)")
        }
        #expect(keys.version(of: try BlobKey("edits/ab/versions/1-5/x"), asset) == nil)
    }

    @Test func `an asset whose longest key does not fit is refused`() async throws {
        let folder = Array(repeating: "abcdefghi", count: 92).joined(separator: "/")
        try keys.check(try AssetPath(folder + "/p.jpg"))
        let long = try AssetPath(folder + "/" + String(repeating: "p", count: 60) + ".jpg")
        let failure = #expect(throws: Failure.self) { try keys.check(long) }
        #expect(failure?.code == .invalidValue)
        let f = try BucketFixture()
        await #expect(throws: Failure.self) { try await f.library.checkEntries(of: long) }
    }

    @Test func `assets are listed by pages, and objects of others are passed over`() async throws {
        let memory = MemoryBlobStore(pageMax: 3)
        let f = try BucketFixture(memory: memory)
        for number in 0..<7 { try memory.set("{}", at: "current/\(number).jpg") }
        var found: [String] = []
        var after: AssetPath?
        repeat {
            let page = try await f.library.assets(after: after)
            found += page.assets.map(\.string)
            after = page.next
        } while after != nil
        #expect(found == (0..<7).map { "\($0).jpg" })
    }

    @Test func `assets with versions are listed, published or not`() async throws {
        let memory = MemoryBlobStore(pageMax: 3)
        let names = ["a", "a-b", "a/versions/1-1/b.jpg", "b/c.jpg", "versions"]
        for name in names {
            for file in ["1-1/provenance.json", "1-1/previews/p.jpg", "12-5/x.AAE", "2-2/x.jpg"] {
                try memory.set("{}", at: "edits/\(name)/versions/\(file)")
            }
        }
        for key in [
            "edits/probe", "edits/z/versions/x/y", "edits/z/versions/1-1", "edits/versions/1-1/x",
        ] {
            try memory.set("{}", at: key)
        }
        let f = try BucketFixture(memory: memory)
        var found: Set<String> = []
        var last: AssetPath?
        repeat {
            let page = try await f.library.storedAssets(after: last)
            found.formUnion(page.assets.map(\.string))
            last = page.next
        } while last != nil
        #expect(found == Set(names))
        #expect(try await f.library.assets(after: nil).assets == [])
    }

    @Test func `names that look the same and have other bytes are different assets`() async throws {
        let memory = MemoryBlobStore()
        let one = try BucketFixture(asset: "M\u{FC}ll.jpg", memory: memory)
        let other = try BucketFixture(asset: "Mu\u{308}ll.jpg", memory: memory)
        try memory.set("another", at: "originals/\(other.asset)")
        #expect(try await one.text(one.library.open(.original(one.asset))) == "original")
        #expect(try await one.text(one.library.open(.original(other.asset))) == "another")
        _ = try await one.publish(version(1), on: nil, text: "one")
        #expect(try await one.library.provenance(of: version(1), other.asset) == nil)
        #expect(try await one.library.state(of: other.asset) == AssetState())
        #expect(memory.keys.count { $0.hasPrefix("current/") } == 1)
    }

    @Test func `a new library is marked, a later release's is refused`() async throws {
        let f = try BucketFixture()
        try await f.library.checkFormat(beginning: true)
        let text = f.memory.text("library.json")
        try await f.library.checkFormat(beginning: true)
        #expect(f.memory.text("library.json") == text)
        let id = try #require(f.library.identity?.id)
        #expect(text == #"{"format":1,"hasOriginals":true,"id":"\#(id)"}"#)
        // A library of an earlier release gets an id.
        try f.memory.set(#"{"format":1}"#, at: "library.json")
        try await f.library.checkFormat(beginning: true)
        let given = try #require(f.library.identity?.id)
        #expect(given != id && f.memory.text("library.json")?.contains(given) == true)
        try f.memory.set(#"{"format":2,"more":1}"#, at: "library.json")
        let failure = await #expect(throws: Failure.self) {
            try await f.library.checkFormat(beginning: true)
        }
        #expect(failure?.code == .laterFormat)
        try f.memory.set("?", at: "library.json")
        let damaged = await #expect(throws: Failure.self) {
            try await f.library.checkFormat(beginning: true)
        }
        #expect(damaged?.code == .damagedVersion)
    }
}

@Suite("Heads") struct HeadTests {
    @Test func `a head reads as it was written, and each body is another one`() async throws {
        let f = try BucketFixture()
        _ = try await f.publish(version(1), on: nil, arrival: 4)
        _ = try await f.publish(version(2), on: version(1), isDraft: true)
        let head = try await f.head()
        #expect(try AssetHead(reading: head.encoded(), at: "head") == head)
        #expect(head.serial == 2)
        let next = head.changed { _ in }
        #expect(try next.encoded() != head.encoded())
    }

    @Test func `names in a head that are none are not believed`() {
        let head = #"{"format":1,"serial":1,"floor":1,"trash":[],"history":[]"#
        for (rest, isSound) in [
            ("}", true), (#","current":"1-1"}"#, false),
            (#","current":null}"#, true), (#","draft":{"version":"../x"}}"#, false),
        ] {
            do throws(Failure) {
                _ = try AssetHead(reading: Array((head + rest).utf8), at: "head")
                #expect(isSound, "\(rest)")
            } catch {
                #expect(!isSound && error.code == .damagedVersion, "\(rest)")
            }
        }
    }

    @Test func `a provenance that is too long for the head is read from its object`() async throws {
        let f = try BucketFixture()
        let edit = String(repeating: "e", count: AssetHead.embeddedBytesMax)
        _ = try await f.publish(version(1), on: nil, edit: edit)
        #expect(try await f.head().provenance == nil)
        let other = try f.anotherMachine()
        #expect(try await other.library.state(of: f.asset).current?.version == "1-1")
    }
}
