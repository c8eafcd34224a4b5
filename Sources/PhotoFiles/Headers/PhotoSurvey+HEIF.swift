extension PhotoSurvey {
    /// Reads the box `meta`, which is loaded completely. Pixels are not read.
    mutating func readHEIF(_ file: inout FileWindow) {
        guard let box = file.firstBox("meta", in: 0..<file.length) else { return }
        addMetadata(box.content.count)
        guard !isBeyond else { return }
        let meta = HEIFMeta(file.all(box.content))
        for case .profile(let bytes) in meta.properties {
            addProfile(bytes.count)
            metadataBytes -= bytes.count
        }
        for case .size(let width, let height) in meta.primary.map(meta.properties(of:)) ?? [] {
            setSize(width, height)
        }
        if let colour = HEIFColour(meta) { noteTransfer(colour.transfer) }
        // Items may share bytes, and each item is read separately, so each counts.
        for (id, location) in meta.locations where meta.items[id]?.isMetadata == true {
            addMetadata(
                location.extents.reduce(0) { sum, extent in
                    Self.sum(sum, file.existing(extent.length ?? .max, from: 0))
                })
        }
    }
}
