import Edits
import BlobStore
import Editors
import Files
import Foundation
import Library
import MinilabTesting
import Synchronization
import SystemPackage

@testable import BucketLibrary

/// A library in a folder that copies are made of, or that is one.
struct CopyFolder {
    let root: FilePath
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder(inMemory: true)
        root = FilePath(folder.path).appending("library")
    }

    /// The library, opened by a process of its own.
    func library(faults: FaultInjection? = nil) throws -> LibraryFolder {
        try LibraryFolder(root: root, faults: faults)
    }

    /// The tree that readers see: files with their bytes, links with their targets, by path.
    func tree() throws -> [String: String] {
        var tree: [String: String] = [:]
        for part in ["edits", "originals"] {
            let names = FileManager.default.enumerator(atPath: root.appending(part).string)
            while let name = names?.nextObject() as? String {
                let path = root.appending(part).pushing(FilePath(name)).string
                guard !name.hasSuffix("/lock") else { continue }
                let attributes = try FileManager.default.attributesOfItem(atPath: path)
                switch attributes[.type] as? FileAttributeType {
                case .typeSymbolicLink:
                    tree["\(part)/\(name)"] =
                        "-> " + (try FileManager.default.destinationOfSymbolicLink(atPath: path))
                case .typeRegular:
                    tree["\(part)/\(name)"] = String(
                        decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
                default: break
                }
            }
        }
        return tree
    }

    /// The paths below `edits` that are names of one file, for each that has several.
    func shared() throws -> Set<Set<String>> {
        var names: [Int: Set<String>] = [:]
        for path in try tree().keys where path.hasPrefix("edits/") {
            let attributes = try FileManager.default.attributesOfItem(
                atPath: root.pushing(FilePath(path)).string)
            guard attributes[.type] as? FileAttributeType == .typeRegular,
                let number = attributes[.systemFileNumber] as? NSNumber
            else { continue }
            names[number.intValue, default: []].insert(path)
        }
        return Set(names.values.filter { $0.count > 1 })
    }

    /// Replaces a file.
    func write(_ text: String, at path: String) throws {
        let url = URL(filePath: root.pushing(FilePath(path)).string)
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }
}

extension BucketFixture {
    /// An asset with two versions, one that shows the first again, a draft, and originals that nobody has edited.
    static func edited(memory: MemoryBlobStore = MemoryBlobStore()) async throws -> BucketFixture {
        let f = try BucketFixture(memory: memory)
        _ = try await f.publish(version(1), on: nil, text: "one")
        _ = try await f.publish(version(2), on: version(1), text: "two")
        _ = try await f.publish(version(3), on: version(2), showing: version(1))
        _ = try await f.publish(version(4, 40), on: version(3), text: "draft", isDraft: true)
        for name in ["2024/IMG_0001.MOV", "2024/IMG_0002.JPG", "z.JPG"] {
            try memory.set("bytes of \(name)", at: "originals/\(name)")
        }
        return f
    }

    /// An empty library in a bucket of its own.
    static func empty(
        _ store: any BlobStore = MemoryBlobStore(), clock: MemoryBlobStore? = nil
    ) throws -> BucketFixture {
        try BucketFixture(store: store, asset: "2024/IMG_0001.JPG", clock: clock)
    }
}

/// Copies, and returns what was reported.
@discardableResult
func copy(
    _ source: any CopyableLibrary, _ target: any CopyableLibrary,
    _ options: LibraryCopy.Options = .init()
) async throws -> (summary: CopySummary, refused: [String: FailureCode]) {
    let refused = Locked<[String: FailureCode]>([:])
    let summary = try await LibraryCopy(from: source, to: target, options).run {
        asset throws(Failure) in
        if case .refused(let failure) = asset.result {
            refused.change { $0[asset.asset] = failure.code }
        }
    }
    return (summary, refused.now)
}
