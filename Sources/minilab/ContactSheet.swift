import Adjustments
import Files
import Logging
import RenderProtocol
import SystemPackage
import Worker

/// One picture of a contact sheet.
struct SheetCell {
    /// The photo; one object for all its pictures.
    let source: OpenFile
    /// The edit to show, or nil for the photo as it is.
    var recipe: Recipe?
    /// What stands below, or nil.
    var label: String?
}

/// Draws small pictures side by side into a JPEG file, by a render child of its own.
///
/// - Parameters:
///   - across: pictures in a row.
///   - side: longest side of a picture, in pixels.
func drawContactSheet(
    _ cells: [SheetCell], across: Int, side: Int, to output: String,
    _ settings: WorkerSettings, _ logger: Logger
) async throws {
    // Beside the result, so that it can be moved to its place whole.
    let folder = try TemporaryFolder(beside: output)
    defer { folder.remove() }
    var files = RenderFiles(
        outputs: [try .nameless(in: folder.path, name: "the contact sheet")],
        spool: try .nameless(in: folder.path, name: "the spool"))
    var places: [ObjectIdentifier: Int] = [:]
    var asked: [ContactSheetRequest.Cell] = []
    for cell in cells {
        let photo = ObjectIdentifier(cell.source)
        let place = places[photo] ?? files.sources.count
        if places.updateValue(place, forKey: photo) == nil { files.sources.append(cell.source) }
        if let recipe = cell.recipe {
            files.resources.merge(try .opened(for: recipe, in: settings.resources)) { $1 }
        }
        asked.append(.init(source: place, recipe: cell.recipe, label: cell.label))
    }
    guard files.sources.count <= ContactSheetRequest.sourcesMax else {
        throw Failure(
            .invalidValue,
            "a contact sheet of \(files.sources.count) photos was asked for; one has at most "
                + "\(ContactSheetRequest.sourcesMax).")
    }
    let pool = RenderPool(settings: settings, logger: logger)
    do {
        try await pool.draw(
            ContactSheetRequest(
                cells: asked, across: across, cellSide: side, limits: settings.limits), files)
    } catch {
        await pool.close()
        throw error
    }
    await pool.close()
    let made = folder.path + "/sheet.jpg"
    try FileCopy.copy(files.outputs[0], toNew: made)
    try folder.release(made, to: output)
}
