extension SampleTable {
    /// The most samples that are decoded before a sample that is shown earlier, up to ``reorderDepthMax``.
    ///
    /// A decoder of H.264 delays this number of frames. If neither it nor the stream knows the number, it guesses, and drops
    /// frames.
    public var reorderDepth: Int {
        // The latest times so far, ascending.
        var latest: [Int] = []
        var depth = 0
        for time in times {
            let index = latest.firstIndex { $0 > time } ?? latest.count
            depth = max(depth, latest.count - index)
            latest.insert(time, at: index)
            if latest.count > Self.reorderDepthMax { latest.removeFirst() }
        }
        return depth
    }

    /// The most frames that may be delayed, according to H.264 and HEVC (ITU-T H.264 §A.3.1, MaxDpbFrames).
    public static let reorderDepthMax = 16
}
