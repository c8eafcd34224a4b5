extension SampleTable {
    /// Most samples that are decoded before one that is shown earlier, up to ``reorderDepthMax``.
    ///
    /// A decoder of H.264 holds so many frames back; where neither it nor the stream knows, it guesses, and leaves frames out.
    public var reorderDepth: Int {
        // The latest times so far, ascending.
        var latest: [Int] = []
        var depth = 0
        for time in times {
            let place = latest.firstIndex { $0 > time } ?? latest.count
            depth = max(depth, latest.count - place)
            latest.insert(time, at: place)
            if latest.count > Self.reorderDepthMax { latest.removeFirst() }
        }
        return depth
    }

    /// Frames that may be held back: what H.264 and HEVC allow (ITU-T H.264 §A.3.1, MaxDpbFrames).
    public static let reorderDepthMax = 16
}
