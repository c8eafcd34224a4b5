import Edits

/// A picture combined, row by row, with a blur of itself. The picture is read once.
///
/// The picture's rows are kept for as long as the blur reads ahead: at most 816 rows, see
/// ``BlurParameters/combined(_:edge:space:)``, which take 59 MB for 6000 pixels and three planes.
/// most, 816 rows, which of 6000 pixels of three planes take 59 MB.
final class CombinedRows: RowSource {
    /// Computes a row of the result from a row of the picture and a row of its blur.
    typealias Combine = (
        _ picture: PlanarRow, _ blurred: PlanarRow, _ out: PlanarRow, _ format: RowFormat
    ) -> Void

    let format: RowFormat
    private let window: RowWindow
    private let blur: any RowSource
    private let blurred: ScratchRow
    private let combine: Combine
    private var y = 0

    /// Creates a combination with a blur of all planes.
    convenience init(
        _ source: any RowSource, with blur: GaussianBlur, _ combine: @escaping Combine
    ) {
        let window = RowWindow(
            source, rows: max(blur.ahead + 1, blur.windowRows), margin: blur.margin,
            edge: blur.edge)
        self.init(window, blur.rows(in: window), combine)
    }

    /// Creates a combination with a blur of the luminance, or of another single plane that `make` computes.
    convenience init(
        _ source: any RowSource, withPlane make: @escaping PlaneRows.Make,
        blurredBy blur: GaussianBlur, _ combine: @escaping Combine
    ) {
        let window = RowWindow(source, rows: blur.ahead + 1, margin: 0, edge: blur.edge)
        self.init(window, blur.rows(from: PlaneRows(window, make)), combine)
    }

    private init(_ window: RowWindow, _ blur: any RowSource, _ combine: @escaping Combine) {
        self.window = window
        self.blur = blur
        self.combine = combine
        format = window.format
        blurred = ScratchRow(width: format.width, planes: blur.format.planes)
    }

    func next(into out: PlanarRow) {
        blur.next(into: blurred.row)
        combine(window.row(y), blurred.row, out, format)
        y += 1
    }
}

/// The rows of a window as a source.
final class CopiedRows: RowSource {
    private let window: RowWindow
    private var y = 0
    var format: RowFormat { window.format }

    init(_ window: RowWindow) { self.window = window }

    func next(into out: PlanarRow) {
        let row = window.row(y)
        for plane in 0..<format.planes { out[plane].update(from: row[plane], count: format.width) }
        y += 1
    }
}

/// One plane computed from the planes of a picture.
final class PlaneRows: RowSource {
    /// Computes a row of the plane.
    typealias Make = (
        _ row: PlanarRow, _ out: UnsafeMutablePointer<Float>, _ width: Int
    ) -> Void

    let format: RowFormat
    private let window: RowWindow
    private let make: Make
    private var y = 0

    init(_ window: RowWindow, _ make: @escaping Make) {
        self.window = window
        self.make = make
        format = RowFormat(width: window.format.width, height: window.format.height, planes: 1)
    }

    func next(into out: PlanarRow) {
        make(window.row(y), out.start, format.width)
        y += 1
    }

    /// Computes the luminance, multiplied by alpha like the planes.
    static func luminance(_ row: PlanarRow, _ out: UnsafeMutablePointer<Float>, _ width: Int) {
        let (red, green, blue) = (row[0], row[1], row[2])
        for x in 0..<width { out[x] = Luminance.of(red[x], green[x], blue[x]) }
    }
}
