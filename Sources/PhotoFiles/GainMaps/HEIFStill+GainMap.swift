extension HEIFStill {
    /// Creates the picture of a photo's gain map, cropped like the photo.
    ///
    /// A program that crops a photo only by `clap` leaves its map unchanged. ISO/IEC 23008-12:2025 §6.6.2.4 applies the map to the
    /// cropped picture, which would be wrong. So a map with the proportions of the uncropped photo is cropped in proportion, to
    /// whole pixels.
    ///
    /// - Parameters:
    ///   - item: the map's item.
    ///   - photo: the photo of the map.
    public init(
        gainMap item: Int, of photo: HEIFStill, _ meta: HEIFMeta, in file: inout FileWindow
    ) throws(HEIFProblem) {
        let map = try HEIFStill(item: item, of: meta, in: &file)
        self = photo.isCut && !map.isCut && map.isLikeUncut(photo) ? map.cut(like: photo) : map
    }

    /// Whether the shown part is smaller than the coded picture.
    private var isCut: Bool {
        (placement.codedWidth, placement.codedHeight) != (picture.width, picture.height)
    }

    /// Whether its proportions are closer to those of the uncropped photo than to those of the cropped one.
    private func isLikeUncut(_ photo: HEIFStill) -> Bool {
        func difference(_ width: Int, _ height: Int) -> Double {
            abs(
                Double(picture.width) / Double(width) * Double(height) / Double(picture.height) - 1)
        }
        return difference(photo.picture.width, photo.picture.height)
            <= difference(photo.placement.codedWidth, photo.placement.codedHeight)
    }
}
