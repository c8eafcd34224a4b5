extension HEIFMeta {
    /// Most bytes of an item that are read whole, such as EXIF or XMP, which ``PhotoSurvey`` has counted before.
    public static let itemBytesMax = 64 << 20

    /// Returns the bytes of a small item, at most ``itemBytesMax``; nil if there are none, or they are elsewhere.
    public func bytes(of item: Int, in file: inout FileWindow) -> [UInt8]? {
        guard let location = locations[item] else { return nil }
        var found: [UInt8] = []
        for extent in location.extents {
            let room = Self.itemBytesMax - found.count
            switch location.origin {
            case .file:
                let count = min(file.existing(extent.length ?? .max, from: extent.offset), room)
                found += file.all(extent.offset..<extent.offset + count)
            case .itemData:
                found += itemData.dropFirst(extent.offset).prefix(
                    min(extent.length ?? .max, room))
            case .elsewhere: return nil
            }
        }
        return found.isEmpty ? nil : found
    }
}
