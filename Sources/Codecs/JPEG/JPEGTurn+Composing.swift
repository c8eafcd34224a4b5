extension JPEGTurn {
    /// Returns the combination of this turn and the next.
    public func then(_ next: JPEGTurn) -> JPEGTurn {
        // A transposition swaps the two mirrorings.
        let (mirrored, flipped) = next.transposes ? (flips, mirrors) : (mirrors, flips)
        return JPEGTurn(
            transposes: transposes != next.transposes, mirrors: mirrored != next.mirrors,
            flips: flipped != next.flips)
    }
}

extension JPEGTransform {
    /// Creates the transform for a photo that is made upright, then cropped, then turned.
    ///
    /// - Parameters:
    ///   - orientation: the EXIF orientation, 1 to 8.
    ///   - part: in pixels of the upright photo, or nil for all of it.
    ///   - photo: the layout as stored.
    public init(orientation: Int, part: Part?, turn: JPEGTurn, of photo: JPEGLayout) {
        let upright = JPEGTurn(orientation: orientation)
        self.init(
            part: part?.before(upright, of: photo.turned(upright)), turn: upright.then(turn))
    }
}

extension JPEGTransform.Part {
    /// Returns the part of the photo that becomes this part of the turned photo.
    func before(_ turn: JPEGTurn, of turned: JPEGLayout) -> JPEGTransform.Part {
        let left = turn.mirrors ? turned.width - width - self.left : self.left
        let top = turn.flips ? turned.height - height - self.top : self.top
        return turn.transposes
            ? .init(left: top, top: left, width: height, height: width)
            : .init(left: left, top: top, width: width, height: height)
    }
}
