import Dashboard
import Foundation
import Testing

/// Where people and browsers' tools look at pages; nothing is written unless asked.
private let folder = ProcessInfo.processInfo.environment["MINILAB_PAGES"]

struct WrittenPages {
    @Test(.enabled(if: folder != nil)) func `pages are written where MINILAB_PAGES says`() throws {
        let root = URL(fileURLWithPath: try #require(folder))
        for fill in Examples.Fill.allCases {
            for example in Examples(fill: fill).all {
                let name = fill == .full ? example.name : example.name + "-empty"
                try write(
                    Data(example.page.render().utf8), to: root.appending(path: name + ".html"))
            }
        }
        for file in StaticFile.all {
            try write(Data(file.bytes), to: root.appending(path: String(file.path.dropFirst())))
        }
    }

    private func write(_ data: Data, to url: URL) throws {
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try data.write(to: url)
    }
}
