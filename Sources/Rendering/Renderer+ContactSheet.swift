public import Edits
import Files
public import RenderProtocol
import Codecs

extension Renderer {
    private static let gap = 12
    private static let quality = 85

    /// Draws small pictures side by side into one JPEG, each with its label below.
    ///
    /// - Throws: `invalidValue` for a sheet that cannot be drawn, and failures of reading, editing or writing.
    public func drawContactSheet(
        _ request: ContactSheetRequest, _ files: RenderFiles
    ) throws(Failure) {
        try Self.check(request, files)
        let spool = files.spool.map(SpoolSpace.init)
        var cells: [Image] = []
        var copy: SmallCopy?
        for cell in request.cells {
            if copy?.source != cell.source {
                copy = try SmallCopy(
                    of: cell, files, side: request.cellSide, request.limits)
            }
            guard let copy else { continue }
            do {
                let picture = try copy.picture(cell.recipe, request, files, spool)
                guard let label = cell.label else {
                    cells.append(picture)
                    continue
                }
                cells.append(try picture.labelled(label, width: request.cellSide))
            } catch {
                throw Failure(reading: error, photo: files.sources[cell.source].name)
            }
        }
        do {
            try Image.grid(cells, across: request.across, gap: Self.gap).writeJPEG(
                to: files.outputs[0].descriptor, quality: Self.quality, chroma: .off,
                progressive: false)
        } catch {
            throw Failure(classifying: error, photo: "the contact sheet")
        }
    }

    private static func check(
        _ request: ContactSheetRequest, _ files: RenderFiles
    ) throws(Failure) {
        let most = ContactSheetRequest.cellsMax
        let sides = ContactSheetRequest.cellSideRange
        guard (1...most).contains(request.cells.count), request.across >= 1,
            sides.contains(request.cellSide)
        else {
            throw Failure(
                .invalidValue,
                "A contact sheet has 1 to \(most) pictures of \(sides.lowerBound) to "
                    + "\(sides.upperBound) pixels; asked for were \(request.cells.count) of "
                    + "\(request.cellSide), \(request.across) in a row.")
        }
        guard files.outputs.count == 1,
            request.cells.allSatisfy({ files.sources.indices.contains($0.source) })
        else {
            throw Failure(
                .internalError,
                "a contact sheet of \(files.sources.count) photos came with \(files.outputs.count) files for "
                    + "it, or names a photo that did not come.")
        }
    }
}

/// A photo shrunk once, for many edits.
private struct SmallCopy {
    let source: Int
    private let file: OpenFile
    private let size: PixelSize
    private let orientation: Int
    private let copy: StandardImage

    init(
        of cell: ContactSheetRequest.Cell, _ files: RenderFiles, side: Int, _ limits: RenderLimits
    ) throws(Failure) {
        source = cell.source
        file = files.sources[source]
        let photo = try PhotoFile(
            file, limits: limits, posterTime: cell.recipe?.output.movie.posterTime ?? 0)
        let header = try photo.header()
        try limits.check(header.storedSize, of: file.name)
        orientation = header.orientation
        size =
            header.storedSize.shrunk(side, of: header.storedSize)
            ?? header.storedSize
        do {
            // Kept, so that only one photo is decoded, and only once.
            copy = try StandardImage(photo.image(failOn: .truncated, copySize: size).inMemory())
        } catch {
            throw Failure(reading: error, photo: file.name)
        }
    }

    /// Returns an edit of the copy, or the copy itself, upright in 8-bit sRGB without metadata.
    func picture(
        _ recipe: Recipe?, _ request: ContactSheetRequest, _ files: RenderFiles,
        _ spool: SpoolSpace?
    ) throws -> Image {
        var image: Image
        if let recipe {
            let opened = try OpenedPhoto(
                PhotoFile(file, limits: request.limits), recipe: recipe, limits: request.limits,
                resources: Resources(files: files.resources))
            image = try Photo(opened, copy: .size(size)).edited(copy, as: .sRGB, spool: spool)
            image = try StandardImage(image.inMemory()).inPlainSRGB()
        } else {
            image = try copy.inPlainSRGB().upright(
                from: orientation, spool: SpoolStorage(space: spool))
        }
        return try image.changing(
            image.fieldNames.filter { $0.contains("-data") }.map { .remove($0) })
    }
}
