import Edits

extension ApplePhotoDocument.Adjustment {
    static let cropIdentifier = "Crop"

    private static let rectangle = ["xOrigin", "yOrigin", "width", "height"]
    /// Aspect ratios chosen in the editor's menu: they have no effect.
    private static let idle: Set<String> = [
        "auto", "constraintHeight", "constraintWidth", "originalCrop", "smart",
    ]
    /// Angles in degrees.
    private static let angles: Set<String> = ["pitch", "straightenAngle", "yaw"]

    /// Creates a crop in the form that Apple's Photos writes.
    init(crop: PixelRectangle) {
        identifier = Self.cropIdentifier
        isEnabled = true
        settings = [
            "xOrigin": crop.x, "yOrigin": crop.y, "width": crop.width, "height": crop.height,
            "straightenAngle": 0, "constraintWidth": 0, "constraintHeight": 0,
        ].mapValues { .number(Double($0)) }
    }

    /// Returns the rectangle of a crop, or the reason why it is not supported.
    ///
    /// - Parameter master: the photo's size in the document.
    /// - Throws: `adjustmentDataUndecodable` if a number is missing.
    func crop(of photo: EditedPhoto, master: PixelSize?) throws(Failure) -> Result<
        PixelRectangle, CannotHandle
    > {
        if let reason = moreThanARectangle { return .failure(CannotHandle(reason)) }
        var numbers: [Int] = []
        for name in Self.rectangle {
            guard case .number(let number) = settings[name] ?? .null else {
                throw ApplePhotoDocument.undecodable(
                    "\(name) of the crop is \(ApplePhotoDocument.short(settings[name] ?? .null)); "
                        + "expected a number.")
            }
            guard number == number.rounded(), abs(number) < 1e9 else {
                return .failure(
                    CannotHandle("its crop has the \(name) \(number), which is no whole pixel."))
            }
            numbers.append(Int(number))
        }
        let crop = PixelRectangle(
            x: numbers[0], y: numbers[1], width: numbers[2], height: numbers[3])
        let stored = photo.storedSize
        guard crop.width > 0, crop.height > 0, crop.x >= 0, crop.y >= 0,
            crop.x + crop.width <= stored.width, crop.y + crop.height <= stored.height
        else {
            return .failure(
                CannotHandle(
                    "its crop \(crop) does not lie within the photo, which is stored with \(stored) "
                        + "pixels."))
        }
        // A camera that crops records the size after its crop, and phones record sizes as displayed.
        let sizes = [stored, crop.size].flatMap { [$0, Orientation.right.size(of: $0)] }
        guard let master, !sizes.contains(master) else { return .success(crop) }
        return .failure(
            CannotHandle(
                "its crop was made on a photo of \(master) pixels; this one is stored with \(stored)."
            ))
    }

    /// The part of a crop that a rectangle cannot express, in a sentence; nil if there is none.
    private var moreThanARectangle: String? {
        for (name, value) in settings.sorted(by: { $0.key < $1.key }) {
            if Self.angles.contains(name) {
                if value == .number(0) { continue }
                return
                    "its crop has the \(name) \(ApplePhotoDocument.short(value)), and how Apple's "
                    + "crops turn is not known here."
            }
            if !Self.rectangle.contains(name), !Self.idle.contains(name) {
                return "its crop has the unknown setting \(name.prefix(60))."
            }
        }
        return nil
    }
}

/// The reason why an edit is not supported: a sentence.
struct CannotHandle: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }
}
