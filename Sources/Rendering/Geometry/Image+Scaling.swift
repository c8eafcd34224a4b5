import Adjustments
import Vips

extension Image {
    /// Scaled by the Lanczos kernel, rows before columns; this image is linear light and streams.
    ///
    /// What is more than four times as large is shrunk by means of blocks first, as libvips does, so that
    /// few rows are kept.
    func scaled(_ geometry: Geometry) throws(VipsError) -> Image {
        let shrink = geometry.shrink
        let map = geometry.downward(shrink: shrink).values
        let (size, source) = (geometry.size, geometry.source)
        let rows = LanczosTable(
            count: size.height, step: map[4], offset: map[5],
            source: (source.height + shrink.rows - 1) / shrink.rows)
        let columns = LanczosTable(
            count: size.width, step: map[0], offset: map[2],
            source: (source.width + shrink.columns - 1) / shrink.columns)
        var image = self
        if shrink != (1, 1) {
            image = try image.shrunk(columns: shrink.columns, rows: shrink.rows)
        }
        image = try image.lineCached(lines: 16).resampledRows(rows)
        return try image.resampledColumns(columns, Coverage(geometry))
    }

    private func resampledRows(_ table: LanczosTable) throws(VipsError) -> Image {
        let bands = bands
        return try computing(
            linearPicture(width: width, height: table.starts.count),
            reading: { area in
                let rows = table.read(for: area.top..<area.top + area.height)
                return PixelArea(
                    left: area.left, top: rows.lowerBound, width: area.width, height: rows.count)
            }
        ) { input, output in
            let (input, output) = (SampleRectangle(input), SampleRectangle(output))
            let count = output.width * bands
            for row in 0..<output.height {
                let out = output.row(row)
                for i in 0..<count { out[i] = 0 }
                let first = table.starts[output.top + row] - input.top
                for tap in 0..<table.taps {
                    let weight = table.weights[(output.top + row) * table.taps + tap]
                    guard weight != 0 else { continue }
                    let line = input.row(first + tap)
                    for i in 0..<count { out[i] += weight * line[i] }
                }
            }
        }
    }

    private func resampledColumns(_ table: LanczosTable, _ coverage: Coverage) throws(VipsError)
        -> Image
    {
        let bands = bands
        return try computing(
            linearPicture(width: table.starts.count, height: height),
            reading: { area in
                let columns = table.read(for: area.left..<area.left + area.width)
                return PixelArea(
                    left: columns.lowerBound, top: area.top, width: columns.count,
                    height: area.height)
            }
        ) { input, output in
            let (input, output) = (SampleRectangle(input), SampleRectangle(output))
            for row in 0..<output.height {
                Self.resample(
                    input.row(row) - input.left * bands, output.row(row), bands: bands,
                    table, output.left..<output.left + output.width)
                if !coverage.isWhole {
                    for column in 0..<output.width {
                        let share = coverage.share(output.left + column, output.top + row)
                        for band in 0..<bands { output.row(row)[column * bands + band] *= share }
                    }
                }
            }
        }
    }

    /// - Parameter line: where the source's first pixel would be.
    private static func resample(
        _ line: UnsafeMutablePointer<Float>, _ out: UnsafeMutablePointer<Float>, bands: Int,
        _ table: LanczosTable, _ range: Range<Int>
    ) {
        table.weights.withUnsafeBufferPointer { weights in
            var out = out
            for index in range {
                var pixel = line + table.starts[index] * bands
                var (red, green, blue, alpha) = (Float(0), Float(0), Float(0), Float(0))
                for tap in index * table.taps..<(index + 1) * table.taps {
                    let weight = weights[tap]
                    red += weight * pixel[0]
                    green += weight * pixel[1]
                    blue += weight * pixel[2]
                    if bands == 4 { alpha += weight * pixel[3] }
                    pixel += bands
                }
                out[0] = red
                out[1] = green
                out[2] = blue
                if bands == 4 { out[3] = alpha }
                out += bands
            }
        }
    }
}
