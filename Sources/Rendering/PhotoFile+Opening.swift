import Adjustments
import Raw
import RenderProtocol
import Vips

extension PhotoFile {
    /// Reads its header; no pixels.
    func header() throws(Failure) -> PhotoHeader {
        guard let loader = format.loader else { return try rawHeader() }
        do {
            return header(
                of: try Image.open(path, loader: loader, streaming: true, failOn: .truncated))
        } catch {
            throw Failure(classifying: error, photo: path)
        }
    }

    /// Its picture, for one pass from top to bottom. A RAW file is developed now, all else is decoded
    /// when pixels are asked for.
    ///
    /// - Throws: `VipsError` or `Failure`.
    func image(failOn: Image.FailOn) throws -> Image {
        guard let loader = format.loader else {
            let picture: RawPicture
            do {
                picture = try RawFile(path).develop()
            } catch {
                throw Failure(classifying: error, photo: path)
            }
            return try Image.over(
                picture.pixels, of: picture, width: picture.width, height: picture.height,
                bands: 3, format: .ushort, interpretation: "rgb16")
        }
        return try Image.open(path, loader: loader, streaming: true, failOn: failOn)
    }

    /// The header of its picture.
    func header(of image: Image) -> PhotoHeader {
        let tag = format.isTurnedByDecoder ? 1 : image.int("orientation") ?? 1
        return PhotoHeader(
            format: format.rawValue,
            storedSize: PixelSize(width: image.width, height: image.height),
            orientation: (1...8).contains(tag) ? tag : 1,
            bands: image.bands,
            bitsPerSample: image.bytesPerPixel / image.bands * 8,
            hasAlpha: image.hasAlpha,
            hasProfile: image.data("icc-profile-data") != nil,
            chroma: image.string("jpeg-chroma-subsample").flatMap(Recipe.Chroma.init),
            notes: notes(on: image))
    }

    private func notes(on image: Image) -> [String] {
        guard let count = image.int("n-pages"), count > 1 else { return [] }
        let parts =
            switch format {
            case .gif, .webp: "frames"
            case .heif: "pictures"
            default: "pages"
            }
        // The primary picture of a HEIF is not always its first one, but libvips opens that.
        return ["the first of \(count) \(parts) is read"]
    }

    private func rawHeader() throws(Failure) -> PhotoHeader {
        do {
            let raw = try RawFile(path)
            return PhotoHeader(
                format: format.rawValue,
                storedSize: PixelSize(width: raw.width, height: raw.height), orientation: 1,
                bands: 3, bitsPerSample: 16, hasAlpha: false, hasProfile: false,
                notes: [
                    "RAW of \(raw.camera) developed by LibRaw with the camera's white balance"
                ])
        } catch {
            throw Failure(classifying: error, photo: path)
        }
    }
}

extension Failure {
    /// What went wrong, by LibRaw's kind of refusal.
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
