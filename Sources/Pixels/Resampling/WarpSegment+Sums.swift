package import Adjustments
import Filters

extension WarpSegment {
    /// Makes each pixel from the sixteen around its place.
    package func sum(count: Int, from source: WarpedSource) {
        let (columns, rows, results) = (columns, rows, results)
        let (across, down) = (columnWeights, rowWeights)
        let bands = source.bands
        // The row above the first.
        let lines = source.lines + (source.reach &- 1 &- source.rows.lowerBound)
        for i in 0..<count {
            let first = (Int(columns[i]) &- 1) &* bands
            let line = lines + Int(rows[i])
            let a = across[i]
            let b = across[i &+ Self.length]
            let c = across[i &+ 2 &* Self.length]
            let d = across[i &+ 3 &* Self.length]
            @inline(__always) func sum(_ number: Int) -> Lanes {
                let pixel = line[number] + first
                var sum = pixel.lanes(0) * a
                sum += pixel.lanes(bands) * b
                sum += pixel.lanes(2 &* bands) * c
                return sum + pixel.lanes(3 &* bands) * d
            }
            var total = sum(0) * down[i]
            total += sum(1) * down[i &+ Self.length]
            total += sum(2) * down[i &+ 2 &* Self.length]
            total += sum(3) * down[i &+ 3 &* Self.length]
            results.setLanes(4 &* i, total)
        }
    }

    /// The same with as many columns and rows as wider kernels reach, from ``columns`` and ``rows`` on.
    package func sumWide(count: Int, taps: (columns: Int, rows: Int), from source: WarpedSource) {
        // A number that the compiler knows lets it unroll the loops: what hardly shrinks reaches five.
        if taps == (5, 5) {
            sumWide(count, 5, 5, source)
        } else {
            sumWide(count, taps.columns, taps.rows, source)
        }
    }

    @inline(__always)
    private func sumWide(_ count: Int, _ columnTaps: Int, _ rowTaps: Int, _ source: WarpedSource) {
        let (columns, rows, results) = (columns, rows, results)
        let (columnWeights, rowWeights) = (columnWeights, rowWeights)
        let bands = source.bands
        let lines = source.lines + (source.reach &- source.rows.lowerBound)
        for i in 0..<count {
            let first = Int(columns[i]) &* bands
            let line = lines + Int(rows[i])
            var total = Lanes.zero
            for row in 0..<rowTaps {
                let pixels = line[row] + first
                var sum = Lanes.zero
                for column in 0..<columnTaps {
                    sum +=
                        pixels.lanes(column &* bands) * columnWeights[column &* Self.length &+ i]
                }
                total += sum * rowWeights[row &* Self.length &+ i]
            }
            results.setLanes(4 &* i, total)
        }
    }

    /// Writes the pixels into planes.
    package func store(count: Int, bands: Int, into out: PlanarRow, at column: Int) {
        for plane in 0..<bands {
            let target = out[plane] + column
            let samples = results + plane
            for i in 0..<count { target[i] = samples[4 &* i] }
        }
    }
}
