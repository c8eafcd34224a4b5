/// The way a filter is computed.
///
/// Each case makes the filter's executable form from its checked parameters. It is made when a render is planned, before any pixel
/// is read. So errors that the parameters' ranges cannot exclude (a singular matrix, a broken table) are reported at that time.
public enum FilterKernel: Sendable {
    /// Computes each pixel independently.
    case pixel(@Sendable (Filter, FilterContext) throws(Failure) -> any PixelFilter)
    /// Computes each pixel from its neighbours.
    case neighbourhood(
        @Sendable (Filter, FilterContext) throws(Failure) -> any NeighbourhoodFilter)
    /// Moves pixels. Consecutive geometries are combined, see ``Geometry``.
    case geometry(@Sendable (Filter, FilterContext) throws(Failure) -> Geometry)
    /// Makes a picture without a photo, such as a gradient. Its pixels are those of a ``PixelFilter`` that ignores its input.
    case generator(@Sendable (Filter, FilterContext) throws(Failure) -> any PixelFilter)
    /// Is replaced by other filters, which are chosen by statistics of the photo.
    case automatic(@Sendable (Filter, PhotoStatistics) throws(Failure) -> [Filter])
}

/// The environment for which a filter is made.
public struct FilterContext: Sendable {
    /// The upright size of the filter's input.
    public let size: PixelSize
    /// Reads a resource by digest (`"sha256:…"`); throws `badResource` if it has more than `bytesMax` bytes.
    public let resource: @Sendable (_ digest: String, _ bytesMax: Int) throws(Failure) -> [UInt8]

    /// Reads a resource as a picture, by digest.
    public let picture:
        @Sendable (_ digest: String, _ fit: ResourcePicture.Fit) throws(Failure) -> ResourcePicture

    /// Makes a context.
    public init(
        size: PixelSize,
        resource:
            @escaping @Sendable (_ digest: String, _ bytesMax: Int) throws(Failure) -> [UInt8],
        picture:
            @escaping @Sendable (_ digest: String, _ fit: ResourcePicture.Fit) throws(Failure)
            -> ResourcePicture
    ) {
        self.size = size
        self.resource = resource
        self.picture = picture
    }

    /// A context without resources.
    public init(size: PixelSize) {
        @Sendable func missing(_ digest: String) -> Failure {
            Failure(
                .missingResource,
                "The file \(digest) was asked for and there is no folder of resources.")
        }
        self.init(
            size: size, resource: { digest, _ throws(Failure) in throw missing(digest) },
            picture: { digest, _ throws(Failure) in throw missing(digest) })
    }
}
