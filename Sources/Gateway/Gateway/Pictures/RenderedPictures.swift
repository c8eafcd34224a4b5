import AccessKeys
package import Editing
import Edits
import Files
import FoundationEssentials
package import Logging
package import RenderPool
package import SystemPackage

/// Thumbnails that sandboxed render children make, one at a time for a tenant, cached in a folder of bounded size.
///
/// The folder belongs to this process and is removed with it, because a picture takes only about a second to make
/// again.
package actor RenderedPictures {
    /// The most bytes of cached pictures: about four hundred pictures. In a container the folder is in memory.
    static let keptBytesMax = 64 << 20
    /// The most pictures that wait to be rendered; a tenant has at most as many as are free.
    static let waitingMax = 64
    /// The longest time for a picture. A photo of 50 MP takes 2 s; a page shows the place of a missing one.
    static let timeMax = Duration.seconds(15)

    private let pool: RenderPool
    private let renderer: FileRenderer
    private let folder: FilePath
    /// Pictures by file name, the least recently requested first.
    private var kept: [(name: String, bytes: Int)] = []
    private var making: [String: Task<Void, any Error>] = [:]
    /// Two pictures at a time, of two tenants: a photo that takes long delays only others of its own tenant.
    private let turns = FairTurns(
        .init(all: 2, ofTenantMax: 1), waiting: .init(all: RenderedPictures.waitingMax))

    /// - Parameter folder: a new folder for this cache alone.
    package init(
        _ rendering: RenderSettings, _ editing: EditingSettings, folder: FilePath, logger: Logger
    ) {
        var rendering = rendering
        rendering.slots = 2
        rendering.timeout = min(rendering.timeout, Self.timeMax)
        pool = RenderPool(settings: rendering, logger: logger)
        renderer = FileRenderer(pool: pool, settings: editing)
        self.folder = folder
    }

    /// The number of pictures that were refused because too many of their tenant waited.
    nonisolated var refusedCount: Int { turns.refusedCount }

    /// Returns an upright JPEG of a photo.
    ///
    /// - Parameters:
    ///   - name: equal for equal bytes of the photo. A cached picture of the same name is returned again.
    ///   - side: the longest side, in pixels.
    ///   - owner: the caller's tenant, in whose turn the picture is made.
    ///   - open: opens the photo if there is no cached picture.
    /// - Throws: the reason for which there is no picture.
    func picture(
        named name: String, side: Int, for owner: FairShare.Owner,
        of open: @Sendable @escaping () async throws -> OpenFile
    ) async throws -> OpenFile {
        let digest = SHA256.hash(data: "\(side)\n\(name)".utf8)
        let file = digest.hex + ".jpg"
        let path = folder.appending(file)
        if let index = kept.firstIndex(where: { $0.name == file }) {
            kept.append(kept.remove(at: index))
            return try OpenFile(reading: path.string)
        }
        if let task = making[file] {
            try await task.value
            return try OpenFile(reading: path.string)
        }
        let task = Task {
            do {
                try await turns.withTurn(of: owner) {
                    try await self.make(path, side, try await open())
                }
            } catch is FairTurns.Full {
                throw Failure(
                    .ioFailure,
                    "\(turns.waitingCount) pictures wait to be made, and this tenant has its share of them; ask again later."
                )
            }
        }
        making[file] = task
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
            // The photo's tenant is not known here: it shares a process with no other photo.
            _ = try await renderer.render(
                photo, Recipe(filters: [], output: output),
                for: Borrower(.photo(path.string)), longestSide: side, to: path)
        } catch {
            // An incomplete picture may be left. It is in no list, and the next attempt needs its path.
            remove(path)
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
            remove(folder.appending(oldest.name))
        }
    }

    /// Stops the render children and removes the folder.
    package func close() async {
        await pool.close()
        remove(folder)
    }

    private func remove(_ path: FilePath) {
        do { try FileManager.default.removeItem(atPath: path.string) } catch {
            // A file that stays is removed with the folder; the next start creates a new one, and the system cleans up temporary folders.
        }
    }
}
