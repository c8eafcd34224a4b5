import Edits
import RenderProtocol
import Codecs

/// The settings that determine how much memory a render needs, besides the photo and the edit.
struct MemoryRoom: Sendable, Equatable {
    /// The rung of the ladder.
    var rung = MemoryRung.usual
    /// Threads that compute pixels.
    var threads = 1
    /// Rows of the tiles in which pixels are computed.
    var tileHeight = 32
    /// Bytes of pixels needed in any order that are kept in memory; more go to a spool file.
    var keptBytesMax = Photo.memorySpoolBytesMax

    /// Returns the settings from the usual ones downward. Each needs less memory than the one before for some renders.
    ///
    /// - Parameter usual: the settings with which the process was started.
    static func ladder(from usual: MemoryRoom) -> [MemoryRoom] {
        var rooms = [usual]
        var room = usual
        func add(_ rung: MemoryRung, _ change: (inout MemoryRoom) -> Void) {
            let before = room
            change(&room)
            guard room != before else { return }
            room.rung = rung
            rooms.append(room)
        }
        add(.oneThread) { $0.threads = 1 }
        add(.lowTiles) { $0.tileHeight = min($0.tileHeight, tileHeightMin) }
        add(.spooled) { $0.keptBytesMax = 0 }
        return rooms
    }

    /// With lower tiles, libvips requests rows in such small groups that time grows more than memory shrinks.
    private static let tileHeightMin = 16

    /// The current settings of libvips.
    static var ofProcess: MemoryRoom {
        MemoryRoom(threads: VipsLibrary.threads, tileHeight: VipsLibrary.tileHeight)
    }

    /// Applies the settings to libvips, until others are applied.
    func apply() {
        if threads != VipsLibrary.threads { VipsLibrary.threads = threads }
        if tileHeight != VipsLibrary.tileHeight { VipsLibrary.tileHeight = tileHeight }
    }
}

extension Planner {
    /// Returns the first plan of the ladder whose estimate fits.
    ///
    /// - Parameters:
    ///   - memoryMax: bytes that the render may need, or nil for no bound.
    ///   - plan: returns the plan for one rung's settings.
    /// - Throws: `exceedsMemoryBudget`, and errors of `plan`.
    static func plan(
        within memoryMax: Int?, from usual: MemoryRoom,
        _ plan: (MemoryRoom) throws(Failure) -> Planned
    ) throws(Failure) -> Planned {
        guard let memoryMax else { return try plan(usual) }
        var least = Int.max
        for room in MemoryRoom.ladder(from: usual) {
            let planned = try plan(room)
            let needed = planned.plan.estimate.memoryBytes
            if needed <= memoryMax { return planned }
            least = min(least, needed)
        }
        throw Failure(
            .exceedsMemoryBudget,
            "The render needs about \(megabytes(least)) MB of memory, even in the way that needs least, and "
                + "one render may have \(megabytes(memoryMax)) MB. Give the worker more memory (--memory), or "
                + "send a smaller photo.")
    }

    private static func megabytes(_ bytes: Int) -> Int { (bytes + 999_999) / 1_000_000 }
}
