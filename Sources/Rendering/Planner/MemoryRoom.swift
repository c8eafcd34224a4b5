import Adjustments
import RenderProtocol
import Vips

/// What decides how much memory a render takes beside the photo and the edit.
struct MemoryRoom: Sendable, Equatable {
    /// Where on the ladder it stands.
    var rung = MemoryRung.usual
    /// Threads that compute pixels.
    var threads = 1
    /// Rows of the tiles in which pixels are computed.
    var tileHeight = 32
    /// Bytes of pixels that are kept in memory when they are needed in any order; more go to a spool file.
    var keptBytesMax = Photo.memorySpoolBytesMax

    /// Rooms from the usual one downward, each of which needs less than the one before for some render.
    ///
    /// - Parameter usual: as the process was started.
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

    /// Below it libvips asks for rows so seldom together that time grows more than memory shrinks.
    private static let tileHeightMin = 16

    /// As libvips runs now.
    static var ofProcess: MemoryRoom {
        MemoryRoom(threads: VipsLibrary.threads, tileHeight: VipsLibrary.tileHeight)
    }

    /// Lets libvips run so, until somebody says otherwise.
    func apply() {
        if threads != VipsLibrary.threads { VipsLibrary.threads = threads }
        if tileHeight != VipsLibrary.tileHeight { VipsLibrary.tileHeight = tileHeight }
    }
}

extension Planner {
    /// The first plan of a ladder whose estimate fits.
    ///
    /// - Parameters:
    ///   - memoryMax: bytes that the render may need, or nil for no bound.
    ///   - plan: plans for one room.
    /// - Throws: `exceedsMemoryBudget`, and what `plan` throws.
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
