public import Edits

/// The names of the libraries whose code is in the bytes of a result: what decoded, computed and encoded it.
///
/// They follow from the plan, so the worker itself knows them and takes only versions from a child. Where a format does not say which
/// of two decoders reads it (a HEIF may be HEVC or AV1), both count: a library too many makes `verify` render one picture less again, one
/// too few would make it call a sound picture damaged.
public enum UsedLibraries {
    /// Returns the libraries of the result that a plan describes.
    ///
    /// - Parameter recipe: the edit, whose resources are decoded, too.
    public static func names(_ plan: RenderPlan, of header: PhotoHeader, _ recipe: Recipe) -> Set<
        String
    > {
        switch plan.lane {
        case .copy, .metadata: return []
        // A movie's matrix is turned by our own code.
        case .lossless: return plan.movie == nil ? [jpeg] : []
        case .planes, .stream, .spool: break
        }
        var names = decoders(of: header.format).union(encoders(of: plan.output.format))
        if plan.lane != .planes { names.formUnion(pixels) }
        if plan.gainMap != nil { names.formUnion(pixels.union([jpeg])) }
        if plan.motionVideo != nil { names.formUnion(video) }
        if !recipe.resourceDigests.isEmpty { names.formUnion(resources) }
        return names
    }

    /// Returns the libraries of a rendition of a photo.
    public static func names(_ rendition: Rendition, of header: PhotoHeader, _ recipe: Recipe)
        -> Set<String>
    {
        var names = decoders(of: header.format).union(
            encoders(of: rendition.output.format ?? .jpeg))
        names.formUnion(pixels)
        if !recipe.resourceDigests.isEmpty || !rendition.pictureDigests.isEmpty {
            names.formUnion(resources)
        }
        if !rendition.fontDigests.isEmpty { names.formUnion(texts) }
        return names
    }

    /// The libraries that draw texts, in a child of their own.
    public static let texts: Set<String> = ["FreeType", "HarfBuzz"]

    private static let jpeg = "libjpeg-turbo"
    /// Pixels between decoder and encoder, and profiles of colour.
    private static let pixels: Set<String> = ["libvips", "lcms2"]
    private static let video: Set<String> = ["libavcodec", "x265"]
    private static let hevcAndAV1: Set<String> = ["libheif", "libde265", "dav1d", "libaom"]
    /// Colour tables are read by our own code, pictures by libvips.
    private static let resources = Recipe.Format.photos.reduce(pixels) {
        $0.union(encoders(of: $1))
    }

    private static func decoders(of format: PhotoFormat) -> Set<String> {
        switch format {
        case .jpeg: [jpeg]
        case .png: ["libpng", "zlib"]
        case .heif: hevcAndAV1.union(video)
        case .webp: ["libwebp"]
        case .tiff: ["libtiff", "libdeflate", "zlib", jpeg]
        case .gif: ["libvips"]
        case .jxl: ["libjxl"]
        case .raw: ["LibRaw", jpeg]
        case .movie: video
        }
    }

    private static func encoders(of format: Recipe.Format) -> Set<String> {
        switch format {
        case .jpeg: [jpeg]
        // Our own encoder deflates by libdeflate, and by zlib where a piece has no end; libvips' writes small and interlaced ones.
        case .png: ["libdeflate", "zlib", "libpng"]
        case .tiff: ["libdeflate"]
        case .webp: ["libwebp"]
        case .heic: video
        case .avif: hevcAndAV1
        case .jxl: ["libjxl"]
        case .mov, .mp4: video
        }
    }
}
