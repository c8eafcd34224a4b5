import CCodecs

/// libjpeg-turbo.
public enum JPEGLibrary {
    /// The version with which this code is compiled, such as `2.1.5`.
    public static var version: String { String(cString: minilab_jpeg_version()) }
}

/// The limits for an untrusted JPEG.
public struct JPEGLimits: Sendable {
    /// Most scans of a progressive photo. Each needs a pass over all coefficients, and 64 KB can hold thousands; libjpeg-turbo's
    /// own tools allow 500 (`TJFLAG_LIMITSCANS`).
    public var scansMax: Int
    /// Most bytes of all APPn and COM segments. An ICC profile of 255 segments, the maximum, has 16 MB.
    public var markerBytesMax: Int
    /// Most bytes of coefficients in memory, 2 per sample: for a transform, and for photos of several scans, such as progressive
    /// ones. All others stream.
    public var coefficientBytesMax: Int

    /// Makes limits.
    public init(
        scansMax: Int = 500, markerBytesMax: Int = 32 << 20, coefficientBytesMax: Int = 1 << 30
    ) {
        self.scansMax = scansMax
        self.markerBytesMax = markerBytesMax
        self.coefficientBytesMax = coefficientBytesMax
    }

    var shim: minilab_jpeg_limits {
        minilab_jpeg_limits(
            scans: Int32(clamping: scansMax), marker_bytes: max(0, markerBytesMax),
            coefficient_bytes: max(0, coefficientBytesMax))
    }
}
