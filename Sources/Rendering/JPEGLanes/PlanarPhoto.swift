import JPEG
import Pixels
import RenderProtocol

/// A photo whose luma and chroma can be had as they are stored: codes of 8 bits as in a JPEG (JFIF 1.02).
protocol PlanarPhoto {
    /// The place of samples in rows of MCUs, with a sampling that ``PlaneProgram`` knows.
    var layout: JPEGLayout { get }
    /// The meaning of the codes of red, green and blue.
    var colour: PhotoColour { get }
    var density: JPEGDensity { get }
    /// The metadata, as segments of a JPEG.
    var markers: [JPEGMarker] { get }

    /// Whether it can be decoded in the order in which a turned photo wants it, so that nothing has to be kept.
    var isTurnedByDecoder: Bool { get }

    /// The photo as it lies after a turn; nil where it has to be kept and turned, or chroma would not stay where it is
    /// between the pixels.
    func turned(_ turn: JPEGTurn) -> (any PlanarPhoto)?

    /// Opens a decoder.
    ///
    /// - Throws: `JPEGError` or `Failure`.
    func planes() throws -> any PlaneSource
}

/// Decodes rows of MCUs, from top to bottom.
protocol PlaneSource: AnyObject {
    /// Decodes the next row of MCUs. What lies beyond the photo's edges is left for ``JPEGPlanes/fillEdges(mcuRow:ofPhoto:)``.
    ///
    /// - Parameters:
    ///   - planes: made for the photo's layout.
    ///   - mcuRow: which row of the planes is overwritten.
    /// - Throws: `JPEGError` or `Failure`.
    func readPlanes(into planes: JPEGPlanes, mcuRow: Int) throws

    /// Reads on to the end, after the last row, and so sees whether the photo is whole.
    func finish() throws
}

/// Encodes rows of MCUs, from top to bottom.
protocol PlaneSink: AnyObject {
    /// Encodes the next row of MCUs, edges filled.
    ///
    /// - Parameters:
    ///   - planes: made for the result's layout.
    ///   - mcuRow: which row of the planes is read.
    /// - Throws: `JPEGError` or `Failure`.
    func writePlanes(_ planes: JPEGPlanes, mcuRow: Int) throws

    /// Writes what is left, after the last row.
    func finish() throws
}

extension PhotoFile {
    /// The photo in planes; nil when they cannot be edited: its codes are no luma and chroma of a known sampling, or its
    /// profile is none of three primaries.
    ///
    /// The other lanes say what is wrong with the file; they read it all the same.
    func planar() -> (any PlanarPhoto)? {
        switch format {
        case .jpeg: PlanarJPEG(self)
        case .heif: PlanarHEIC(self)
        default: nil
        }
    }
}
