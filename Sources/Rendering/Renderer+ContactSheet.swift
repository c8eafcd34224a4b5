public import Adjustments
public import RenderProtocol
import Vips

extension Renderer {
    private static let gap = 12
    private static let quality = 85

    /// Draws small pictures side by side into one JPEG, each with its label below.
    ///
    /// - Throws: `invalidValue` for a sheet that cannot be drawn, else what reading, editing or writing
    ///   fails with.
    public func drawContactSheet(_ request: ContactSheetRequest) throws(Failure) {
        try Self.check(request)
        var cells: [Image] = []
        var copy: SmallCopy?
        for cell in request.cells {
            if copy?.path != cell.source {
                copy = try SmallCopy(of: cell.source, side: request.cellSide, request.limits)
            }
            guard let copy else { continue }
            do {
                let picture = try copy.picture(cell.recipe, request)
                guard let label = cell.label else {
                    cells.append(picture)
                    continue
                }
                cells.append(try picture.labelled(label, width: request.cellSide))
            } catch {
                throw Failure(reading: error, photo: cell.source)
            }
        }
        do {
            try Image.grid(cells, across: request.across, gap: Self.gap).writeJPEG(
                to: request.destination, quality: Self.quality, chroma: .off, progressive: false)
        } catch {
            throw Failure(classifying: error, photo: request.destination)
        }
    }

    private static func check(_ request: ContactSheetRequest) throws(Failure) {
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
    }
}

/// A photo shrunk once, for many edits.
private struct SmallCopy {
    let path: String
    private let size: PixelSize
    private let orientation: Int
    private let copy: StandardImage

    init(of path: String, side: Int, _ limits: RenderLimits) throws(Failure) {
        self.path = path
        let file = try PhotoFile(at: path, limits: limits)
        let header = try file.header()
        try limits.check(header.storedSize, of: path)
        orientation = header.orientation
        size =
            header.storedSize.shrunk(side, of: header.storedSize)
            ?? header.storedSize
        do {
            // Kept, so that no more than one photo is decoded, once.
            copy = try StandardImage(file.image(failOn: .truncated, copySize: size).inMemory())
        } catch {
            throw Failure(reading: error, photo: path)
        }
    }

    /// An edit of it, or itself, upright in 8-bit sRGB without metadata.
    func picture(_ recipe: Recipe?, _ request: ContactSheetRequest) throws -> Image {
        var image: Image
        if let recipe {
            let photo = try Photo(
                path, recipe: recipe, limits: request.limits, copy: .size(size),
                resource: Resources(folder: request.resources).path(of:))
            image = try photo.edited(copy, as: .sRGB, folder: request.folder)
            image = try StandardImage(image.inMemory()).inPlainSRGB()
        } else {
            image = try copy.inPlainSRGB().upright(
                from: orientation, spool: SpoolPlace(folder: request.folder))
        }
        return try image.changing(
            image.fieldNames.filter { $0.contains("-data") }.map { .remove($0) })
    }
}

extension ContactSheetRequest {
    /// Where the sheet will be, and a spool file may be.
    fileprivate var folder: String {
        let parts = destination.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count > 1 ? parts.dropLast().joined(separator: "/") + "/" : "."
    }
}
