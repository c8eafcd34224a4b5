import Edits

/// The place of a picture in a panorama (Google's "Photo Sphere XMP Metadata"), in whole pixels.
extension XMPPacket {
    /// Makes the place that of an edited picture, or removes all properties of the panorama if it is none any more: turned, mirrored,
    /// distorted, or scaled differently across and down.
    mutating func movePanorama(_ map: ContentMap?) {
        guard Self.panorama.contains(where: { contains("GPano:" + $0) }) else { return }
        guard let map, let place = movedPanorama(map) else {
            for name in Self.panorama { remove("GPano:" + name) }
            return
        }
        for (name, value) in place {
            if let value {
                replace("GPano:" + name, by: "\(value)")
            } else {
                remove("GPano:" + name)
            }
        }
    }

    /// Returns the new values of the properties that change, nil for one that is removed; nil for no panorama.
    private func movedPanorama(_ map: ContentMap) -> [String: Int?]? {
        guard let (left, top, across, down) = map.cropAndScale else { return nil }
        let (width, height) = (Double(map.size.width), Double(map.size.height))
        // Sides are whole pixels, so a uniform scale may differ by that much.
        guard abs(width * (across / down - 1)) <= Self.scaleTolerance,
            abs(height * (down / across - 1)) <= Self.scaleTolerance
        else { return nil }
        guard let full = size("FullPano"), let cropped = size("CroppedAreaImage"),
            let oldLeft = number("CroppedAreaLeftPixels"),
            let oldTop = number("CroppedAreaTopPixels")
        else { return nil }
        // The values count the panorama's pixels when it was made, the photo may have fewer since.
        let (x, y) = (
            cropped.width / Double(map.source.width), cropped.height / Double(map.source.height)
        )
        guard abs(x / y - 1) <= Self.shapeTolerance else { return nil }
        var place: [String: Int?] = [
            "FullPanoWidthPixels": whole(full.width / x / across),
            "FullPanoHeightPixels": whole(full.height / y / down),
            "CroppedAreaImageWidthPixels": map.size.width,
            "CroppedAreaImageHeightPixels": map.size.height,
            "CroppedAreaLeftPixels": whole((oldLeft / x + left) / across),
            "CroppedAreaTopPixels": whole((oldTop / y + top) / down),
        ]
        let interior = "LargestValidInteriorRect"
        if let size = size(interior, unit: ""), let innerLeft = number(interior + "Left"),
            let innerTop = number(interior + "Top")
        {
            func span(_ start: Double, _ length: Double, _ most: Double) -> (Int, Int)? {
                let (low, high) = (
                    max(0, start).rounded(.up), min(most, start + length).rounded(.down)
                )
                return high > low ? (Int(low), Int(high - low)) : nil
            }
            let columns = span(
                (innerLeft / x - left) / across, size.width / x / across, width)
            let rows = span((innerTop / y - top) / down, size.height / y / down, height)
            let isThere = columns != nil && rows != nil
            place[interior + "Left"] = .some(isThere ? columns?.0 : nil)
            place[interior + "Width"] = .some(isThere ? columns?.1 : nil)
            place[interior + "Top"] = .some(isThere ? rows?.0 : nil)
            place[interior + "Height"] = .some(isThere ? rows?.1 : nil)
        }
        return place
    }

    /// The most pixels of the result by which its two scales may differ.
    private static let scaleTolerance = 1.5
    /// The most by which the photo's proportions may differ from those that the panorama states.
    private static let shapeTolerance = 0.01
    /// The longest side of a panorama that is read.
    private static let sideMax = 1e7

    private func size(_ name: String, unit: String = "Pixels") -> (width: Double, height: Double)? {
        guard let width = number("\(name)Width\(unit)"),
            let height = number("\(name)Height\(unit)"),
            width > 0, height > 0
        else { return nil }
        return (width, height)
    }

    private func number(_ name: String) -> Double? {
        guard let value = find("GPano:" + name, from: 0)?.value,
            let number = Double(Self.text(bytes[value])), abs(number) <= Self.sideMax
        else { return nil }
        return number
    }

    private func whole(_ number: Double) -> Int { Int(number.rounded()) }

    /// All properties of the name space.
    private static let panorama = [
        "UsePanoramaViewer", "CaptureSoftware", "StitchingSoftware", "ProjectionType",
        "PoseHeadingDegrees", "PosePitchDegrees", "PoseRollDegrees", "InitialViewHeadingDegrees",
        "InitialViewPitchDegrees", "InitialViewRollDegrees", "InitialHorizontalFOVDegrees",
        "InitialVerticalFOVDegrees", "InitialCameraDolly", "FirstPhotoDate", "LastPhotoDate",
        "SourcePhotosCount", "ExposureLockUsed", "CroppedAreaImageWidthPixels",
        "CroppedAreaImageHeightPixels", "FullPanoWidthPixels", "FullPanoHeightPixels",
        "CroppedAreaLeftPixels", "CroppedAreaTopPixels", "LargestValidInteriorRectLeft",
        "LargestValidInteriorRectTop", "LargestValidInteriorRectWidth",
        "LargestValidInteriorRectHeight", "SourceImageCreateTime", "SourceImagePaths",
    ]
}
