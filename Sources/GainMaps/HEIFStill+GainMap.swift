public import Boxes

extension HEIFStill {
    /// The picture of a photo's gain map, of which the part is shown that the photo shows.
    ///
    /// A program that cuts a photo by `clap` alone leaves its map as it was. ISO/IEC 23008-12:2025 §6.6.2.4 lays the map over what is
    /// shown, where it would be wrong; so a map that has the shape of the photo before the cut is cut in proportion, to whole pixels.
    ///
    /// - Parameters:
    ///   - item: of the map.
    ///   - photo: whose map it is.
    public init(
        gainMap item: Int, of photo: HEIFStill, _ meta: HEIFMeta, in file: inout FileWindow
    ) throws(HEIFProblem) {
        let map = try HEIFStill(item: item, of: meta, in: &file)
        self = photo.isCut && !map.isCut && map.isLikeUncut(photo) ? map.cut(like: photo) : map
    }

    /// Whether less is shown than is coded.
    private var isCut: Bool {
        (placement.codedWidth, placement.codedHeight) != (picture.width, picture.height)
    }

    /// Whether its sides are rather as those of a photo before a cut than as after it.
    private func isLikeUncut(_ photo: HEIFStill) -> Bool {
        func difference(_ width: Int, _ height: Int) -> Double {
            abs(
                Double(picture.width) / Double(width) * Double(height) / Double(picture.height) - 1)
        }
        return difference(photo.picture.width, photo.picture.height)
            <= difference(photo.placement.codedWidth, photo.placement.codedHeight)
    }
}
