extension JPEGTurn {
    /// This turn and then another one, as one.
    public func then(_ next: JPEGTurn) -> JPEGTurn {
        // A transposition makes of left and right what was top and bottom.
        let (mirrored, flipped) = next.transposes ? (flips, mirrors) : (mirrors, flips)
        return JPEGTurn(
            transposes: transposes != next.transposes, mirrors: mirrored != next.mirrors,
            flips: flipped != next.flips)
    }
}

extension JPEGTransform {
    /// A photo made upright, then cut, then turned.
    ///
    /// - Parameters:
    ///   - orientation: EXIF's, 1 to 8.
    ///   - part: in pixels of the upright photo, or nil for all of it.
    ///   - photo: the layout as stored.
    public init(orientation: Int, part: Part?, turn: JPEGTurn, of photo: JPEGLayout) {
        let upright = JPEGTurn(orientation: orientation)
        self.init(
            part: part?.before(upright, of: photo.turned(upright)), turn: upright.then(turn))
    }
}

extension JPEGTransform.Part {
    /// The part of the photo that this part of the turned photo was.
    func before(_ turn: JPEGTurn, of turned: JPEGLayout) -> JPEGTransform.Part {
        let left = turn.mirrors ? turned.width - width - self.left : self.left
        let top = turn.flips ? turned.height - height - self.top : self.top
        return turn.transposes
            ? .init(left: top, top: left, width: height, height: width)
            : .init(left: left, top: top, width: width, height: height)
    }
}
