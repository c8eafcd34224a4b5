import Codecs
import Edits
import Files
import PhotoFiles
import RenderProtocol

/// A photo whose stored luma and chroma are accessible: 8-bit codes as in a JPEG (JFIF 1.02).
protocol PlanarPhoto {
    /// The layout of samples in rows of MCUs, with a sampling that ``PlaneProgram`` supports.
    var layout: JPEGLayout { get }
    /// The meaning of the codes of red, green and blue.
    var colour: PhotoColour { get }
    var density: JPEGDensity { get }
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

/// A JPEG in planes.
struct PlanarJPEG: PlanarPhoto {
    let colour: PhotoColour
    private let file: OpenFile
    private let limits: JPEGLimits
    private let header: JPEGHeader

    var layout: JPEGLayout { header.layout }
    var density: JPEGDensity { header.density }
    var markers: [JPEGMarker] { header.markers }

    /// Reads the header; nil under the conditions of ``PhotoFile/planar()``, and if there are too many coefficients.
    init?(_ file: PhotoFile) {
        let limits = file.jpegLimits(coefficientBytesMax: PlanesLane.coefficientBytesMax)
        guard let header = try? JPEGReader(file.descriptor, limits: limits).header else {
            return nil
        }
        let layout = header.layout
        guard layout.colour == .ycbcr, let chroma = layout.chroma,
            PlaneProgram.chromas.contains(chroma),
            !header.hasSeveralScans || header.coefficientBytes <= PlanesLane.coefficientBytesMax
        else { return nil }
        switch header.markers.profile {
        case .none: colour = .sRGB
        case .damaged: return nil
        case .whole(let bytes):
            guard let profile = ICCMatrixProfile(bytes), let known = PhotoColour(profile) else {
                return nil
            }
            colour = known
        }
        self.file = file.file
        self.limits = limits
        self.header = header
    }

    var isTurnedByDecoder: Bool { false }
    func turned(_ turn: JPEGTurn) -> (any PlanarPhoto)? { nil }

    func planes() throws -> any PlaneSource {
        let reader = try JPEGReader(file.descriptor, limits: limits)
        try reader.startPlanes()
        return reader
    }
}

extension JPEGReader: PlaneSource {}
extension JPEGWriter: PlaneSink {}

/// A HEIC in planes, upright.
struct PlanarHEIC: PlanarPhoto {
    let layout: JPEGLayout
    let colour: PhotoColour
    let markers: [JPEGMarker]
    private let still: HEIFStill
    private let file: PhotoFile

    /// A HEIC has no density.
    var density: JPEGDensity { .unknown }

    var isTurnedByDecoder: Bool { true }

    /// Reads boxes and parameter sets; nil under the conditions of ``PhotoFile/planar()``.
    init?(_ file: PhotoFile) {
        // Errors in the boxes are reported by the other lanes.
        guard let still = try? file.hevcStill() else { return nil }
        let profile = still.profile ?? file.profileOfCodes
        var colour = PhotoColour.sRGB
        if let profile {
            guard let matrix = ICCMatrixProfile(profile), let known = PhotoColour(matrix) else {
                return nil
            }
            colour = known
        }
        let markers = JPEGMarker.of(exif: still.exif, xmp: still.xmp, profile: profile)
        guard markers.profile == profile.map(EmbeddedProfile.whole) ?? .none else { return nil }
        self.init(still, in: file, colour, markers)
    }

    private init?(
        _ still: HEIFStill, in file: PhotoFile, _ colour: PhotoColour, _ markers: [JPEGMarker]
    ) {
        // Errors in the coded data are reported by the other lanes.
        guard let planes = try? HEICPlanes(still, in: file.window) else { return nil }
        let shift = planes.chromaShift
        layout = JPEGLayout(
            width: planes.width, height: planes.height, colour: .ycbcr,
            sampling: [.init(1 << shift.x, 1 << shift.y), .init(1, 1), .init(1, 1)])
        (self.still, self.file, self.colour, self.markers) = (still, file, colour, markers)
    }

    func turned(_ turn: JPEGTurn) -> (any PlanarPhoto)? {
        PlanarHEIC(
            still.turned(
                transposes: turn.transposes, mirrors: turn.mirrors, flips: turn.flips),
            in: file, colour, markers)
    }

    func planes() throws -> any PlaneSource {
        let name = file.name
        do throws(HEICError) {
            guard let planes = try HEICPlanes(still, in: file.window) else {
                throw .unsupported("codes that are not those of a JPEG")
            }
            return HEICPlaneSource(planes, name: name, layout: layout)
        } catch {
            throw Failure(error, photo: name)
        }
    }
}

/// Converts rows of tiles to rows of MCUs.
private final class HEICPlaneSource: PlaneSource {
    private let planes: HEICPlanes
    private let name: String
    private let layout: JPEGLayout
    private var row = 0

    init(_ planes: HEICPlanes, name: String, layout: JPEGLayout) {
        (self.planes, self.name, self.layout) = (planes, name, layout)
    }

    func readPlanes(into target: JPEGPlanes, mcuRow: Int) throws {
        let (luma, blue, red) = (target.planes[0], target.planes[1], target.planes[2])
        let rows = min(luma.mcuHeight, layout.height - row * luma.mcuHeight)
        var chromaRow = 0
        do throws(HEICError) {
            for y in 0..<rows {
                let hasCopied = try planes.copyRow(
                    luma: luma.row(y, of: mcuRow), blue: blue.row(chromaRow, of: mcuRow),
                    red: red.row(chromaRow, of: mcuRow))
                if hasCopied { chromaRow += 1 }
            }
        } catch {
            throw Failure(error, photo: name)
        }
        row += 1
    }

    /// Does nothing: each tile was checked while it was decoded.
    func finish() {}
}
