import Edits
import PhotoFiles
import RenderProtocol
import Codecs

extension PhotoFile {
    /// Opens a TIFF whose picture libvips 8.14 does not read, or reads with another meaning; nil for all others.
    ///
    /// - Throws: `VipsError`, or `unsupportedFormat` if libtiff cannot read the directory.
    func tiffImage() throws -> Image? {
        guard format == .tiff, let picture = survey?.tiff, picture.needsOwnReader,
            let meaning = picture.colours, let samples = TIFFSamples(picture)
        else { return nil }
        let channels =
            Array(0..<meaning.count) + (picture.alpha.map { [$0.channel] } ?? [])
        guard let rows = TIFFRows(descriptor, picture, wanted: channels) else {
            throw Failure(
                .unsupportedFormat,
                "\(name) is a TIFF whose layout libtiff cannot read: \(picture.layoutText). Write it again with another "
                    + "compression, in strips of some rows.")
        }
        let colours = TIFFColours(picture, meaning)
        let (width, height) = (picture[.width] ?? 0, picture[.height] ?? 0)
        let light = TIFFLight(width: width, planes: channels.count)
        let isPlanar = picture.isPlanar
        let step = isPlanar ? 1 : picture.samples
        let image = try Image.suppliedRows(
            RegionPicture(
                width: width, height: height, bands: colours.bands,
                format: colours.isDeep ? .ushort : .uchar, interpretation: colours.interpretation)
        ) { row in
            rows.next { stored in
                for (index, channel) in channels.enumerated() {
                    samples.read(
                        stored[isPlanar ? index : 0], from: isPlanar ? 0 : channel, step: step,
                        into: light.planes[index])
                }
                colours.convert(light.planes, into: row)
            }
        }
        return try image.changing(resolution: resolution(of: picture)).changing(
            fields(of: picture, isConverted: colours.isConverted))
    }

    /// Returns pixels per millimetre; 1 if the file states none.
    private func resolution(of picture: TIFFPicture) -> (x: Double, y: Double) {
        var window = window
        // 2 is the inch, 3 the centimetre.
        let unit = [2: 25.4, 3: 10][picture[.resolutionUnit] ?? 2]
        guard let unit, let x = picture.fraction(.xResolution, &window),
            let y = picture.fraction(.yResolution, &window), x > 0, y > 0
        else { return (1, 1) }
        return (x / unit, y / unit)
    }

    /// The loader's options for the picture's page.
    var pageOptions: [(String, Int)] {
        guard format == .tiff, let picture = survey?.tiff, !picture.isFirst else { return [] }
        return [(picture.isBelow ? "subifd" : "page", picture.page)]
    }

    private func fields(
        of picture: TIFFPicture, isConverted: Bool
    ) -> [Image.MetadataChange] {
        func data(_ tag: TIFFPicture.Tag) -> [UInt8]? {
            var window = window
            return picture.range(of: tag).map { window.all($0) }
        }
        var fields: [Image.MetadataChange] = [
            .setInt(
                "orientation", picture[.orientation] ?? survey?.firstTIFF?[.orientation] ?? 1),
            .setInt("n-pages", max(1, survey?.pages ?? 1)),
        ]
        if !isConverted, let profile = data(.profile) {
            fields.append(.setData("icc-profile-data", profile))
        }
        if let xmp = data(.xmp) { fields.append(.setData("xmp-data", xmp)) }
        if let iptc = data(.iptc) { fields.append(.setData("iptc-data", iptc)) }
        return fields
    }

    /// Returns notes about a TIFF: channels that are not read, and the place of the picture.
    func tiffNotes() -> [String] {
        guard let picture = survey?.tiff else { return [] }
        var notes: [String] = []
        if picture.isBelow {
            notes.append(
                "the picture below the first page is read: that page is a smaller copy of it")
        } else if !picture.isFirst {
            notes.append(
                "page \(picture.page + 1) of \(survey?.pages ?? 1) is read: the first is a smaller copy"
            )
        }
        if picture.spareChannels > 0 {
            notes.append(
                picture.spareChannels == 1
                    ? "a channel that is neither colour nor alpha is left out"
                    : "\(picture.spareChannels) channels that are neither colour nor alpha are left out"
            )
        }
        return notes
    }
}

/// Rows of numbers, a plane for each channel.
///
/// `@unchecked Sendable` is safe because one thread at a time makes rows.
private final class TIFFLight: @unchecked Sendable {
    let planes: [UnsafeMutableBufferPointer<Float>]

    init(width: Int, planes: Int) {
        self.planes = (0..<planes).map { _ in .allocate(capacity: width) }
        for plane in self.planes { plane.initialize(repeating: 0) }
    }

    deinit { for plane in planes { plane.deallocate() } }
}

extension TIFFPicture {
    /// Whether libvips 8.14 cannot read the picture, or reads it wrongly: samples that are not integers of 8 or 16 bits, several
    /// channels beside the colours, L*a*b*, channels that are stored by themselves (it takes grey for its alpha, and keeps whole strips
    /// of all channels), and any picture but the first.
    var needsOwnReader: Bool {
        guard let colours, let bits, self[.width] != nil, self[.height] != nil else { return false }
        if isFloat || ![8, 16].contains(bits) && !(isSimpleGrey && [1, 2, 4].contains(bits)) {
            return true
        }
        if case .lab = colours { return true }
        return spareChannels > 0 || isPlanar && samples > 1 || !isFirst
    }

    private var isSimpleGrey: Bool { colours?.count == 1 && samples == 1 }

    /// The layout for people.
    var layoutText: String {
        "\(samples) channels of \(bits ?? 0) bits, compression \(self[.compression] ?? 1)"
    }
}
