import Adjustments
import Crypto
import Files
import FoundationEssentials
import Gateway
import Logging
import Synchronization
import SystemPackage
import Worker

/// Small pictures, made by confined render children one at a time, and kept in a folder of bounded size.
///
/// The folder is this process' own and goes with it: a picture is made again in a second.
actor RenderedPictures: PictureMaker {
    /// Most bytes of pictures that are kept: some four hundred. In a container the folder is memory.
    static let keptBytesMax = 64 << 20
    /// Most pictures that wait to be made.
    static let waitingMax = 64

    private let pool: RenderPool
    private let renderer: FileRenderer
    private let folder: FilePath
    /// Pictures by file name, the one that was asked for least lately at the front.
    private var kept: [(name: String, bytes: Int)] = []
    private var making: [String: Task<Void, any Error>] = [:]
    private var last: Task<Void, any Error>?

    /// - Parameter folder: new, and for this alone.
    init(settings: WorkerSettings, folder: FilePath, logger: Logger) {
        var settings = settings
        settings.slots = 1
        pool = RenderPool(settings: settings, logger: logger)
        renderer = FileRenderer(pool: pool, settings: settings)
        self.folder = folder
    }

    func picture(
        named name: String, side: Int, of open: @Sendable @escaping () async throws -> OpenFile
    ) async throws -> OpenFile {
        let digest = SHA256.hash(data: Array("\(side)\n\(name)".utf8))
        let file = digest.hex + ".jpg"
        let path = folder.appending(file)
        if let place = kept.firstIndex(where: { $0.name == file }) {
            kept.append(kept.remove(at: place))
            return try OpenFile(reading: path.string)
        }
        if let task = making[file] {
            try await task.value
            return try OpenFile(reading: path.string)
        }
        guard making.count < Self.waitingMax else {
            throw Failure(.ioFailure, "\(Self.waitingMax) pictures wait to be made; ask again.")
        }
        let before = last
        let task = Task {
            // One at a time, in the order in which they were asked for; that one failed does not matter to the next.
            _ = await before?.result
            try await self.make(path, side, try await open())
        }
        making[file] = task
        last = task
        defer { making[file] = nil }
        try await task.value
        let made = try OpenFile(reading: path.string)
        keep(file, try made.length())
        return made
    }

    private func make(_ path: FilePath, _ side: Int, _ photo: OpenFile) async throws {
        var output = Recipe.Output()
        output.format = .jpeg
        do {
            _ = try await renderer.render(
                photo, Recipe(filters: [], output: output), longestSide: side, to: path)
        } catch {
            // A half picture may lie there; it is in no list, and the next attempt needs the place.
            try? FileManager.default.removeItem(atPath: path.string)
            throw error
        }
    }

    private func keep(_ name: String, _ bytes: Int) {
        guard !kept.contains(where: { $0.name == name }) else { return }
        kept.append((name, bytes))
        var total = kept.reduce(0) { $0 + $1.bytes }
        while total > Self.keptBytesMax, kept.count > 1 {
            let oldest = kept.removeFirst()
            total -= oldest.bytes
            // A file that cannot be removed goes with the folder.
            try? FileManager.default.removeItem(atPath: folder.appending(oldest.name).string)
        }
    }

    /// Ends the render children and removes the folder.
    func close() async {
        await pool.close()
        // The next start takes a new folder; the system clears temporary ones.
        try? FileManager.default.removeItem(atPath: folder.string)
    }
}
