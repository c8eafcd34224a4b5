import Editing
import Edits
import Files
import FoundationEssentials
import Glibc
import Logging
import RenderPool
import RenderProtocol
import SystemPackage
import Worker

struct SheetCell {
    /// The photo; all its pictures share one file.
    let source: OpenFile
    /// The edit to apply; nil for the unedited photo.
    var recipe: Recipe?
    var label: String?
}

/// Draws thumbnails side by side into a JPEG file, in a render child that this call starts.
///
/// - Parameters:
///   - across: the number of pictures in a row.
///   - side: the longest side of a picture, in pixels.
func drawContactSheet(
    _ cells: [SheetCell], across: Int, side: Int, to output: String,
    _ settings: WorkerSettings, _ logger: Logger
) async throws {
    // The folder is beside the result, so that the file can be moved there atomically.
    let folder = try TemporaryFolder(beside: output)
    defer { folder.remove() }
    var files = RenderFiles(
        outputs: [try .nameless(in: folder.path, name: "the contact sheet")],
        spool: try .nameless(in: folder.path, name: "the spool"))
    var indices: [ObjectIdentifier: Int] = [:]
    var asked: [ContactSheetRequest.Cell] = []
    for cell in cells {
        let photo = ObjectIdentifier(cell.source)
        let index = indices[photo] ?? files.sources.count
        if indices.updateValue(index, forKey: photo) == nil { files.sources.append(cell.source) }
        if let recipe = cell.recipe {
            files.resources.merge(
                try .opened(for: recipe, of: .operator, in: settings.editing.resources)
            ) { $1 }
        }
        asked.append(.init(source: index, recipe: cell.recipe, label: cell.label))
    }
    guard files.sources.count <= ContactSheetRequest.sourcesMax else {
        throw Failure(
            .invalidValue,
            "a contact sheet of \(files.sources.count) photos was asked for; one has at most "
                + "\(ContactSheetRequest.sourcesMax).")
    }
    let pool = RenderPool(settings: settings.rendering, logger: logger)
    do {
        try await pool.draw(
            ContactSheetRequest(
                cells: asked, across: across, cellSide: side, limits: settings.editing.limits),
            files)
    } catch {
        await pool.close()
        throw error
    }
    await pool.close()
    let made = folder.path + "/sheet.jpg"
    try FileCopy.copy(files.outputs[0], toNew: made)
    try folder.release(made, to: output)
}

/// A folder that its owner removes.
package struct TemporaryFolder {
    package let path: String

    /// Creates a folder beside `file`, which need not exist.
    package init(beside file: String) throws {
        let folder = FilePath(file).absolute.removingLastComponent()
        var template = Array(folder.appending(".minilab-XXXXXX").string.utf8CString)
        guard mkdtemp(&template) != nil else {
            throw Failure(
                .ioFailure,
                "nothing can be written to \(folder): \(String(cString: strerror(errno))).")
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Moves a file of the folder to its destination atomically.
    ///
    /// - Throws: `ioFailure`.
    func release(_ file: String, to output: String) throws(Failure) {
        guard rename(file, output) == 0 else {
            throw Failure(
                .ioFailure, "\(output) cannot be written: \(String(cString: strerror(errno))).")
        }
    }

    package func remove() {
        // If removal fails, a hidden, harmless folder is left. The result counts.
        try? FileManager.default.removeItem(atPath: path)
    }
}
