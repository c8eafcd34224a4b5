extension Movie {
    /// Returns the byte ranges of some tracks' samples in the file, in order, without bytes that another track shares.
    ///
    /// A chunk extends to the next one of any track, or to the end of its media data: the meaning of PCM's sizes depends on the
    /// sample description, and bytes between chunks belong to no track.
    func samplesRanges(of tracks: [MovieTrack]) throws(MovieProblem) -> [Range<Int>] {
        guard !tracks.isEmpty else { return [] }
        let boxIndices = Set(tracks.map(\.boxIndex))
        var chunks: [(offset: Int, isWanted: Bool)] = []
        for track in self.tracks {
            guard let table = box.boxes[track.boxIndex]["mdia", "minf", "stbl"],
                table["stco"] != nil || table["co64"] != nil
            else { continue }
            let isWanted = boxIndices.contains(track.boxIndex)
            for offset in try SampleTable.chunkOffsets(of: table) {
                chunks.append((offset, isWanted))
            }
        }
        chunks.sort { $0.offset < $1.offset }
        let media = others.filter { $0.type == "mdat" }.map(\.content)
        var ranges: [Range<Int>] = []
        var index = 0
        while index < chunks.count {
            let offset = chunks[index].offset
            let same = chunks[index...].prefix { $0.offset == offset }
            index += same.count
            guard same.allSatisfy(\.isWanted),
                let data = media.overlapping(offset..<offset + 1).first
            else { continue }
            let next = index < chunks.count ? chunks[index].offset : .max
            ranges.append(offset..<min(next, data.upperBound))
        }
        return ranges
    }
}

extension [Range<Int>] {
    /// Returns the ranges that overlap a range. The array must be sorted and disjoint.
    func overlapping(_ range: Range<Int>) -> ArraySlice<Range<Int>> {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].upperBound <= range.lowerBound {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return self[low...].prefix { $0.lowerBound < range.upperBound }
    }
}
