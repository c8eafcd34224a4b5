import Edits
import Editors
import Foundation
import Glibc
import MinilabTesting
import Synchronization
import SystemPackage
import Testing

@testable import Library

/// Somebody exchanges a file of the originals, again and again, while it is read.
@Suite("Files that are swapped while they are read", .timeLimit(.minutes(10)))
struct SwappedFileTests {
    private static let reads = 50
    /// Reads after which nobody seems to swap the file.
    private static let readsMax = 2_000_000

    /// What takes the file's place for a moment.
    enum Intruder: CaseIterable {
        case linkOutOfTheLibrary, pipe
    }

    private final class SwapState: Sendable {
        let ends = Mutex(false)
    }

    /// A file of the originals, and what exchanges it.
    private struct Swapped: Sendable {
        let path: AssetPath
        let file: String
        let content: Data
        let outside: String
        let spare: String

        init(_ name: String, _ content: Data, of f: LibraryFixture, outside: Data) throws {
            path = try AssetPath(name)
            file = f.library.originals.pushing(FilePath(name)).string
            self.content = content
            self.outside = f.folder.file("outside")
            spare = f.folder.file("spare")
            try outside.write(to: URL(filePath: self.outside))
            try content.write(to: URL(filePath: file))
        }

        /// Exchanges the file, on a thread of its own, as long as the body runs.
        func swapping(_ intruder: Intruder, _ body: () throws -> Void) rethrows {
            let state = SwapState()
            let end = DispatchSemaphore(value: 0)
            // Not one of the pool's: as many tests as it has threads may be reading without a pause.
            Thread.detachNewThread {
                do {
                    while !state.ends.withLock({ $0 }) { try swap(intruder) }
                } catch {
                    Issue.record("the file is not swapped any more: \(error)")
                }
                end.signal()
            }
            defer {
                state.ends.withLock { $0 = true }
                end.wait()
            }
            try body()
        }

        private func swap(_ intruder: Intruder) throws {
            let made =
                switch intruder {
                case .linkOutOfTheLibrary: symlink(outside, spare)
                case .pipe: mkfifo(spare, 0o600)
                }
            guard made == 0, rename(spare, file) == 0 else { throw Errno(rawValue: errno) }
            try content.write(to: URL(filePath: spare))
            guard rename(spare, file) == 0 else { throw Errno(rawValue: errno) }
        }
    }

    private func sidecar(_ recipe: String) throws -> Data {
        try AAESidecar(
            AdjustmentData(Recipe(filters: [Filter(recipe)])), on: .original,
            timestamp: Date(timeIntervalSince1970: 0)
        ).encoded()
    }

    @Test(arguments: Intruder.allCases)
    func `a sidecar is that of the originals, or refused`(_ intruder: Intruder) throws {
        let f = try LibraryFixture()
        let inside = try AAESidecar(bytes: sidecar("CIColorInvert")).adjustment
        let swapped = try Swapped(
            "2024/IMG_0001.AAE", sidecar("CIColorInvert"), of: f,
            outside: sidecar("CISepiaTone"))
        var (read, refused) = (0, 0)
        swapped.swapping(intruder) {
            while read + refused < Self.reads || read == 0 || refused == 0,
                read + refused < Self.readsMax
            {
                do throws(Failure) {
                    let found = try AAESidecar(reading: f.library.openOriginal(of: swapped.path))
                    #expect(found.adjustment == inside)
                    read += 1
                } catch {
                    #expect([.assetOutsideLibrary, .unsupportedFormat].contains(error.code))
                    refused += 1
                }
            }
        }
        #expect(read > 0 && refused > 0)
    }

    @Test(arguments: Intruder.allCases)
    func `a video beside a still is that of the originals, or none`(
        _ intruder: Intruder
    ) throws {
        let f = try LibraryFixture()
        let swapped = try Swapped(
            "2024/IMG_0001.MOV", Data("not a movie".utf8), of: f,
            outside: SyntheticLivePhoto.movie())
        var (found, none) = (0, 0)
        try swapped.swapping(intruder) {
            while found + none < Self.reads || found == 0 || none == 0,
                found + none < Self.readsMax
            {
                let video = try f.library.video(at: swapped.path)
                #expect(video?.contentIdentifier == nil)
                if video == nil { none += 1 } else { found += 1 }
            }
        }
        #expect(found > 0 && none > 0)
    }
}
