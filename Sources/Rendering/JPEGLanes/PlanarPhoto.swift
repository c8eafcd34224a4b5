import Codecs
import RenderProtocol

/// A photo whose stored luma and chroma are accessible: 8-bit codes as in a JPEG (JFIF 1.02).
protocol PlanarPhoto {
    /// The layout of samples in rows of MCUs, with a sampling that ``PlaneProgram`` supports.
    var layout: JPEGLayout { get }
    /// The meaning of the codes of red, green and blue.
    var colour: PhotoColour { get }
    var density: JPEGDensity { get }
    /// The metadata, as segments of a JPEG.
    var markers: [JPEGMarker] { get }

    /// Whether the decoder can deliver the order that a turned photo needs, so that no planes are spooled.
    var isTurnedByDecoder: Bool { get }

    /// Returns the photo turned; nil if it must be spooled to be turned, or if chroma samples would move relative to the pixels.
    func turned(_ turn: JPEGTurn) -> (any PlanarPhoto)?

    /// Opens a decoder.
    ///
    /// - Throws: `JPEGError` or `Failure`.
    func planes() throws -> any PlaneSource
}

/// Decodes rows of MCUs, from top to bottom.
protocol PlaneSource: AnyObject {
    /// Decodes the next row of MCUs. Samples beyond the photo's edges are left for ``JPEGPlanes/fillEdges(mcuRow:ofPhoto:)``.
    ///
    /// - Parameters:
    ///   - planes: planes of the photo's layout.
    ///   - mcuRow: the row of the planes that is overwritten.
    /// - Throws: `JPEGError` or `Failure`.
    func readPlanes(into planes: JPEGPlanes, mcuRow: Int) throws

    /// Reads the rest of the file after the last row, to verify that the photo is complete.
    func finish() throws
}

/// Encodes rows of MCUs, from top to bottom.
protocol PlaneSink: AnyObject {
    /// Encodes the next row of MCUs, edges filled.
    ///
    /// - Parameters:
    ///   - planes: planes of the result's layout.
    ///   - mcuRow: the row of the planes that is read.
    /// - Throws: `JPEGError` or `Failure`.
    func writePlanes(_ planes: JPEGPlanes, mcuRow: Int) throws

    /// Writes the rest of the file after the last row.
    func finish() throws
}

extension PhotoFile {
    /// Returns the photo in planes; nil if its planes cannot be edited: its codes are not luma and chroma of a supported sampling,
    /// or its profile is not defined by three primaries.
    ///
    /// An invalid file also returns nil: the other lanes read it and report the error.
    func planar() -> (any PlanarPhoto)? {
        switch format {
        case .jpeg: PlanarJPEG(self)
        case .heif: PlanarHEIC(self)
        default: nil
        }
    }
}
