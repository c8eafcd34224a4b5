/// How a filter is computed.
///
/// Each case makes the filter's working form from its checked parameters. It is made when a render is
/// planned, before any pixel is read, so what parameters cannot say by their ranges alone (a matrix
/// that is singular, a table that is broken) is refused there.
public enum FilterKernel: Sendable {
    /// Each pixel by itself.
    case pixel(@Sendable (Filter, FilterContext) throws(Failure) -> any PixelFilter)
    /// Each pixel with its neighbours.
    case neighbourhood(
        @Sendable (Filter, FilterContext) throws(Failure) -> any NeighbourhoodFilter)
    /// Other places for the pixels: consecutive ones are folded into one, see ``Geometry``.
    case geometry(@Sendable (Filter, FilterContext) throws(Failure) -> Geometry)
    /// A picture of its own, without a photo: a gradient. Its pixels are those of a ``PixelFilter``
    /// that ignores what is there.
    case generator(@Sendable (Filter, FilterContext) throws(Failure) -> any PixelFilter)
    /// Stands for other filters, which are chosen by looking at the photo.
    case automatic(@Sendable (Filter, PhotoStatistics) throws(Failure) -> [Filter])
}

/// What a filter may ask about when it is made.
public struct FilterContext: Sendable {
    /// The upright size of the picture that the filter gets.
    public let size: PixelSize
    /// Reads a resource, by digest (`"sha256:…"`): `badResource` when it has more than `bytesMax` bytes.
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
