import Adjustments
import Glibc
import Logging
import RenderProtocol
import SystemPackage
import Worker

/// Draws small pictures side by side into a JPEG file, by a render child of its own.
///
/// - Parameters:
///   - across: pictures in a row.
///   - side: longest side of a picture, in pixels.
func drawContactSheet(
    _ cells: [ContactSheetRequest.Cell], across: Int, side: Int, to output: String,
    _ settings: WorkerSettings, _ logger: Logger
) async throws {
    // Beside the result, so that it can be moved to its place whole.
    let folder = try TemporaryFolder(beside: output)
    defer { folder.remove() }
    let made = folder.path + "/sheet.jpg"
    var settings = settings
    settings.reachable = .photos(
        Set(cells.map(\.source)), resources: settings.resources, results: folder.path)
    let pool = RenderPool(settings: settings, logger: logger)
    do {
        try await pool.draw(
            ContactSheetRequest(
                cells: cells, across: across, cellSide: side, destination: made,
                limits: settings.limits, resources: settings.resources))
    } catch {
        await pool.close()
        throw error
    }
    await pool.close()
    guard rename(made, output) == 0 else {
        throw Failure(
            .ioFailure, "\(output) cannot be written: \(String(cString: strerror(errno))).")
    }
}
