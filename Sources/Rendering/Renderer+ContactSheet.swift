public import Adjustments
public import RenderProtocol
import Vips

extension Renderer {
    private static let cellSide = 480
    private static let gap = 12
    private static let quality = 85

    /// Draws originals and renders side by side into one JPEG: a column of pairs for each so many rows,
    /// so that a sheet of many is no tower.
    ///
    /// - Throws: `invalidValue` for no or too many pairs, else what reading or writing fails with.
    public func drawContactSheet(_ request: ContactSheetRequest) throws(Failure) {
        guard (1...ContactSheetRequest.pairsMax).contains(request.pairs.count) else {
            throw Failure(
                .invalidValue,
                "A contact sheet has 1 to \(ContactSheetRequest.pairsMax) pairs, not "
                    + "\(request.pairs.count).")
        }
        var cells: [Image] = []
        for path in request.pairs.flatMap({ [$0.before, $0.after] }) {
            cells.append(try cell(path))
        }
        // About twice as many rows as columns of pairs, since a pair is twice as wide as high.
        let columns = Int((Double(request.pairs.count) / 2).squareRoot().rounded(.up))
        do {
            try Image.grid(cells, across: 2 * columns, gap: Self.gap).writeJPEG(
                to: request.destination, quality: Self.quality, chroma: .auto)
        } catch {
            throw Failure(classifying: error, photo: request.destination)
        }
    }

    /// One picture, upright, in 8-bit sRGB without alpha or metadata.
    private func cell(_ path: String) throws(Failure) -> Image {
        let file = try PhotoFile(at: path)
        do {
            let opened = try file.image(failOn: .truncated)
            let orientation = file.header(of: opened).orientation
            let standard = try StandardImage(opened.changing([.setInt("orientation", orientation)]))
            var image = try standard.image.thumbnail(width: Self.cellSide, height: Self.cellSide)
            let layout = PixelProgram.Layout(
                sample: image.format == .ushort ? .encoded16 : .encoded8, bands: image.bands)
            let plain = PixelProgram.Layout(sample: .encoded8, bands: 3)
            // Small enough to be kept, so that no more than one photo is being decoded at a time.
            image = try image.running(
                PixelProgram(
                    source: layout, filters: [], target: plain, height: image.height,
                    colour: standard.colour, targetColour: .sRGB)
            ).inMemory()
            return try image.changing(
                image.fieldNames.filter { $0.contains("-data") }.map { .remove($0) })
        } catch let error as VipsError {
            throw Failure(classifying: error, photo: path)
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(.internalError, "\(error)")
        }
    }
}
