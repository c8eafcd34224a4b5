import Files
import Codecs

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
