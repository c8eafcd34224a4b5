import PhotoFiles
import Edits
import Codecs
import RenderProtocol

extension PhotoFile {
    /// Reads the photo's header, but no pixels.
    func header() throws(Failure) -> PhotoHeader { try headerAndMetadata().header }

    /// Reads the photo's header and the facts of its metadata, but no pixels.
    func headerAndMetadata() throws(Failure) -> (header: PhotoHeader, metadata: MetadataFacts) {
        if let movie = try MovieFile(self, limits: limits) {
            return (movie.header(), MetadataFacts())
        }
        guard let loader = format.loader else { return (try rawHeader(), MetadataFacts()) }
        let header: PhotoHeader
        let metadata: MetadataFacts
        do {
            let image = try open(with: loader, failOn: .truncated)
            (header, metadata) = (self.header(of: image), metadataFacts(of: image))
        } catch let error as VipsError where survey?.tiff?.isWhole == true {
            // All pixels are there, so a directory that libvips does not read is of a kind that it does not know.
            throw Failure(.unsupportedFormat, rendering: name, "\(error)")
        } catch {
            throw Failure(reading: error, photo: name)
        }
        guard ReplyBounds.bands.contains(header.bands),
            ReplyBounds.bits.contains(header.bitsPerSample)
        else {
            throw Failure(
                .unsupportedFormat,
                "\(name) has \(header.bands) channels of \(header.bitsPerSample) bits; a photo has at most "
                    + "\(ReplyBounds.bands.upperBound) of \(ReplyBounds.bits.upperBound). Send the picture that "
                    + "was made of these measurements.")
        }
        return (header, metadata)
    }

    /// Returns the photo's picture, for one pass from top to bottom. A RAW file is developed at once; all others are decoded when
    /// pixels are requested.
    ///
    /// - Throws: `VipsError` or `Failure`.
    func image(failOn: Image.FailOn) throws -> Image {
        if let movie = try MovieFile(self, limits: limits) {
            return try movie.poster(at: posterTime)
        }
        guard let loader = format.loader else {
            let picture: RawPicture
            do {
                picture = try RawFile(descriptor).develop()
            } catch {
                throw Failure(classifying: error, photo: name)
            }
            return try Image.over(
                picture.pixels, of: picture, width: picture.width, height: picture.height,
                bands: 3, format: .ushort, interpretation: "rgb16")
        }
        return try open(with: loader, failOn: failOn)
    }

    /// Opens the file by a loader of libvips, or by a reader of our own. libvips 8.14 ignores colours that are declared by numbers,
    /// so such a photo is assigned their profile here, and it ignores that colours are multiplied by alpha.
    func open(with loader: String, failOn: Image.FailOn) throws -> Image {
        var image: Image
        if let still = try hevcStill() {
            image = try still.image(self)
        } else if let own = try tiffImage() ?? deepJPEGImage() ?? jpegImage() {
            image = own
        } else {
            image = try Image.open(
                descriptor, loader: loader, streaming: true, failOn: failOn, options: pageOptions)
            if isMultipliedByAlpha { image = try image.dividedByAlpha() }
        }
        guard let profile = declaredColour.profile(isGrey: image.bands <= 2) else { return image }
        return try image.changing([.setData("icc-profile-data", profile)])
    }

    /// The meaning of the codes that the file declares by numbers.
    private var declaredColour: DeclaredColour {
        switch format {
        case .png: survey.map { DeclaredColour($0.pngColour) } ?? .embedded
        case .heif: heifColour.map(DeclaredColour.init) ?? .embedded
        default: .embedded
        }
    }

    /// The profile for the numeric colour description of a HEIF without a profile; nil for colours that are read as sRGB.
    var profileOfCodes: [UInt8]? { declaredColour.profile(isGrey: false) }

    /// Whether the file says that its colours are multiplied by alpha: an AVIF by a reference (`prem`, ISO/IEC 23008-12 §6.10.1), a
    /// JPEG XL in the header of alpha.
    private var isMultipliedByAlpha: Bool {
        switch format {
        case .heif:
            var window = window
            guard let meta = HEIFMeta(of: &window), let primary = meta.primary else { return false }
            return !meta.items(from: primary, by: "prem").isEmpty
        case .jxl: return survey?.isMultipliedByAlpha ?? false
        default: return false
        }
    }

    private var heifColour: HEIFColour? {
        var window = window
        return HEIFMeta(of: &window).flatMap(HEIFColour.init)
    }

    func header(of image: Image) -> PhotoHeader {
        let tag =
            format.isTurnedByDecoder
            ? 1
            : image.int("orientation")
                ?? pngChunks?.exif.flatMap { Exif.orientation($0) } ?? 1
        // The chroma sampling of a JPEG, rounded up to a supported one. libvips reports 4:2:0 for everything but 4:4:4, and 4:2:2
        // would lose half of its rows. The decoder reports errors in the file.
        let layout = format == .jpeg ? try? JPEGReader(descriptor).header.layout : nil
        return PhotoHeader(
            format: format,
            storedSize: PixelSize(width: image.width, height: image.height),
            orientation: (1...8).contains(tag) ? tag : 1,
            bands: image.bands,
            bitsPerSample: image.bytesPerPixel / image.bands * 8,
            hasAlpha: image.hasAlpha,
            hasProfile: image.data("icc-profile-data") != nil,
            chroma: layout.flatMap { $0.chroma.flatMap(Recipe.Chroma.init) ?? .full }
                ?? HEIFStill.chroma(of: image),
            rowsAtOnce: rowsAtOnce(in: image),
            isUncompressed: isUncompressed,
            hasWholeBlocks: hasWholeBlocks,
            contentIdentifier: exif(of: image).flatMap(AppleMakerNote.contentIdentifier),
            notes: notes(on: image))
    }

    private func notes(on image: Image) -> [String] {
        pageNotes(on: image) + colourNotes(on: image) + extraNotes(on: image) + tiffNotes()
            + (hasNoEnd
                ? [
                    "the file ends without its end marker (EOI); it is rendered if all of its pixels are there"
                ] : [])
    }

    /// Returns notes about contents of the file that the render omits.
    private func extraNotes(on image: Image) -> [String] {
        // ISO/IEC 23008-12 §10 and AV1-AVIF §6: the major brand of a file that is primarily a sequence.
        let brand = format == .heif ? head(of: 12).suffix(4) : []
        if brand.elementsEqual("avis".utf8) || brand.elementsEqual("hevc".utf8) {
            return ["of an image sequence the still picture is read"]
        }
        // libvips 8.14 overwrites each frame with the next one.
        return survey?.isAnimation == true
            ? ["the photo is an animation, of which one frame is read, mostly the last one"] : []
    }

    /// Returns notes about colours that are read with another meaning: unsupported primaries. HDR curves are rejected earlier.
    private func colourNotes(on image: Image) -> [String] {
        guard format == .heif, image.data("icc-profile-data") == nil,
            let colour = heifColour, !DeclaredColour.isKnown(colour)
        else { return [] }
        return ["colours of H.273 \(colour.primaries)/\(colour.transfer) are read as sRGB"]
    }

    private func pageNotes(on image: Image) -> [String] {
        guard let count = image.int("n-pages"), count > 1, pageOptions.isEmpty else { return [] }
        let parts =
            switch format {
            case .gif, .webp: "frames"
            case .heif: "pictures"
            default: "pages"
            }
        // libvips opens the first picture of a HEIF, which is not always the primary one.
        return ["the first of \(count) \(parts) is read"]
    }

    private func rawHeader() throws(Failure) -> PhotoHeader {
        do {
            let raw = try RawFile(descriptor)
            return PhotoHeader(
                format: format,
                storedSize: PixelSize(width: raw.width, height: raw.height), orientation: 1,
                bands: 3, bitsPerSample: 16, hasAlpha: false, hasProfile: false,
                rowsAtOnce: raw.height,
                notes: [
                    "RAW of \(raw.camera) developed by LibRaw with the camera's white balance"
                ])
        } catch {
            throw Failure(classifying: error, photo: name)
        }
    }
}

extension Failure {
    init(classifying error: RawError, photo: String) {
        switch error.kind {
        case .unsupported:
            self.init(
                .unsupportedFormat,
                "\(photo) is a RAW file that LibRaw cannot develop. Convert it, to DNG say. (\(error))"
            )
        case .damaged:
            self.init(
                .damagedPhoto,
                "\(photo) cannot be decoded whole; it is damaged or cut off. Upload it again. "
                    + "(\(error))")
        case .memory:
            self.init(
                .outOfMemory,
                "There was not enough memory to render \(photo). Give the worker more memory. "
                    + "(\(error))")
        case .io:
            self.init(.ioFailure, "Reading failed while rendering \(photo). (\(error))")
        }
    }
}
